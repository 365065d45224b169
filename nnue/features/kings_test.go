package features

import (
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
)

// kingHalfSlowly numbers the squares of files e to h, rank by rank, until it comes to the
// king's or its mirror image.
func kingHalfSlowly(v *seen) []int {
	n := 0
	for s := range 64 {
		if s%8 < 4 {
			continue
		}
		if s == v.king || s-s%8+7-s%8 == v.king {
			return []int{n}
		}
		n++
	}
	return nil
}

func allHalfSlowly(v *seen) []int {
	var out []int
	for s, plane := range v.board {
		if v.king%8 < 4 {
			s = s - s%8 + 7 - s%8
		}
		if plane >= 0 {
			out = append(out, 64*plane+s)
		}
	}
	return out
}

// Products with a place of a king have a group for each place, so that their rows have
// what the places share beside them, as HalfKAv2 has. Sums have one.
func TestGroupsOfKings(t *testing.T) {
	for expression, want := range map[string]Groups{
		"KingHalf * (AllHalf + Hand)": {Count: 32, Size: 928, step: 928, stride: 1},
		"EnemyKing * All":             {Count: 64, Size: 768, step: 768, stride: 1},
		"All * KingZone":              {Count: 12, Size: 768, step: 1, stride: 12},
		"All + KingZone * All":        {Count: 1, Size: 13 * 768, stride: 1},
		"Hand * All":                  {Count: 1, Size: 160 * 768, stride: 1},
	} {
		if got := GroupsOf(mustParse(t, expression, chess.Crazyhouse)); got != want {
			t.Errorf("%s: found groups %+v, expected %+v", expression, got, want)
		}
	}
}
