package configs

import (
	"errors"
	"strings"
	"testing"
)

// TestGrowth: a fresh net has the architecture of the last stage whose positions are
// stored, and everything else as the net that the loop begins with.
func TestGrowth(t *testing.T) {
	c, err := Preset("laptop")
	if err != nil {
		t.Fatal(err)
	}
	first := c.Net.Net
	c.Net.Growth = "5M: HalfKAv2 128; 40000000 :  All + PH  256"
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	for positions, want := range map[uint64]struct {
		features string
		width    int
	}{
		0: {first.Features, first.Width}, 4_999_999: {first.Features, first.Width}, 5_000_000: {"HalfKAv2", 128},
		39_999_999: {"HalfKAv2", 128}, 40_000_000: {"All + PH", 256}, 1 << 60: {"All + PH", 256},
	} {
		net := c.Net.At(positions)
		if net.Features != want.features || net.Width != want.width {
			t.Errorf("%d positions: %s %d, expected %s %d", positions, net.Features, net.Width, want.features, want.width)
		}
		if net.Features, net.Width = first.Features, first.Width; net != first {
			t.Errorf("%d positions: %+v, expected else as %+v", positions, net, first)
		}
	}
	all, err := c.Net.All()
	if err != nil || len(all) != 3 || all[0] != first || all[1] != c.Net.At(5_000_000) || all[2] != c.Net.At(40_000_000) {
		t.Errorf("all: %+v, error %v", all, err)
	}
	// It comes to those who play with the nets.
	if got, err := WithShared(c, Shared(c), "shared"); err != nil || got.Net != c.Net {
		t.Errorf("shared: %+v, error %v", got.Net, err)
	}
	c.Net.Growth = "1M: 192; 5M: HalfKAv2 128; 40M:256"
	for positions, want := range map[uint64]string{0: first.Features, 1e6: first.Features, 5e6: "HalfKAv2", 40e6: "HalfKAv2"} {
		if net := c.Net.At(positions); net.Features != want {
			t.Errorf("%q, %d positions: found %s, expected %s", c.Net.Growth, positions, net.Features, want)
		}
	}
	if small, large := c.Net.At(1e6).Width, c.Net.At(40e6).Width; small != 192 || large != 256 {
		t.Errorf("%q: found widths %d and %d", c.Net.Growth, small, large)
	}
	c.Net.Growth = "1M: 256 pairwise; 5M: HalfKAv2 512; 9M: All 128 crelu"
	for positions, want := range map[uint64]string{
		0: first.Size(), 1e6: first.Features + " 256 pairwise", 5e6: "HalfKAv2 512 pairwise", 9e6: "All 128 crelu",
	} {
		if found := c.Net.At(positions).Size(); found != want {
			t.Errorf("%q, %d positions: found %s, expected %s", c.Net.Growth, positions, found, want)
		}
	}
	if err := c.Validate(); err != nil {
		t.Error(err)
	}
	// A stage that an earlier build stored has no activation.
	if old := (Stage{Features: "All", Width: 64}).Of(first); old.Activation != first.Activation {
		t.Errorf("a stage without activation: %s, expected that of the first net", old.Size())
	}
	c.Net.Growth = ""
	if all, err := c.Net.All(); err != nil || len(all) != 1 || c.Net.At(1<<60) != first {
		t.Errorf("without growth: %+v, error %v", all, err)
	}
}

func TestGrowthRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"5M":                           "expected POSITIONS: [FEATURES] WIDTH",
		"5M:":                          `found the width ""`,
		"5M: HalfKAv2":                 `found the width "HalfKAv2"`,
		"5M: HalfKAv2 wide":            `found the width "wide"`,
		"many: HalfKAv2 128":           `"many`,
		"5M: HalfKAv2 128; 5M: All 64": "found 5000000 positions, expected more than the 5000000 before",
		"5M: HalfKAv2 128;":            "expected POSITIONS: [FEATURES] WIDTH",
		"5M: HalfKAv9 128":             "growth: HalfKAv9 128",
		"5M: HalfKAv2 100":             "growth: HalfKAv2 100",
		"5M: pairwise":                 `found the width ""`,
		"5M: 128 wide":                 `found the width "wide"`,
		"5M: 16 pairwise":              "growth: KingZone * (All + Hand) 16 pairwise",
		"5M: 100":                      "growth: KingZone * (All + Hand) 100",
	} {
		refuses(t, "laptop", text, want)
	}
	for text, want := range map[string]string{
		"5M":                 "expected POSITIONS: NET, such as 2M: 4x48",
		"5M: ":               "expected POSITIONS: NET",
		"many: 4x48":         `"many`,
		"5M: 4x48; 4M: 2x32": "found 4000000 positions, expected more than the 5000000 before",
		"5M: HalfKAv2 128":   `growth: HalfKAv2 128: `,
		"60M: 256":           `found "256", expected one of`,
	} {
		refuses(t, "planes", text, want)
	}
}

func refuses(t *testing.T, preset, growth, want string) {
	t.Helper()
	c, err := Preset(preset)
	if err != nil {
		t.Fatal(err)
	}
	c.Net.Growth = growth
	if err := c.Validate(); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), want) {
		t.Errorf("%s, %q: error %v, expected %q", preset, growth, err, want)
	}
}

// TestPlanesGrowth: plane nets grow to others by name; blocks and channels of the first
// are not those of the others.
func TestPlanesGrowth(t *testing.T) {
	c, err := Preset("planes")
	if err != nil {
		t.Fatal(err)
	}
	c.Net.Blocks, c.Net.Growth = 1, "2M: 4x48; 8M: mobile 2x32 gates=1/2"
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	for positions, want := range map[uint64]string{0: "residual 1x32", 2e6: "residual 4x48", 8e6: "mobile 2x32"} {
		if a, err := c.Net.At(positions).Shape(); err != nil || !strings.HasPrefix(a.String(), want) {
			t.Errorf("%d positions: found %v, error %v, expected %s", positions, a, err, want)
		}
	}
}
