package observe

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/crazyhouse-rl/selfplay/selfplay"
)

// sampled are the samples without labels of what a process shows.
func sampled(t *testing.T, o selfplay.Observation) map[string]float64 {
	t.Helper()
	r := prometheus.NewRegistry()
	r.MustRegister(&collector{observe: func(bool) (selfplay.Observation, bool) { return o, true }})
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if len(m.GetLabel()) == 0 {
				all[f.GetName()] = m.GetCounter().GetValue() + m.GetGauge().GetValue()
			}
		}
	}
	return all
}

// A full disk has no free room, which is a sample as others are; room that is not known is
// none.
func TestFullDiskIsShown(t *testing.T) {
	for _, known := range []bool{true, false} {
		if v, there := sampled(t, selfplay.Observation{DiskKnown: known})["selfplay_disk_free_bytes"]; there != known || v != 0 {
			t.Errorf("known %v: found %g (there: %v), expected a sample of 0 if it is known", known, v, there)
		}
	}
}

// Counters are of the process, gauges of the run: a run that goes on is no new games or steps.
func TestCountersAreOfTheProcess(t *testing.T) {
	run := selfplay.Status{Games: 1000, Positions: 2000, Duplicates: 30, Quarantined: 40, Step: 500, Samples: 6000}
	run.Figures = selfplay.Figures{Games: 1, Positions: 2, Duplicates: 3, Quarantined: 4, Steps: 5, Samples: 6}
	found := sampled(t, selfplay.Observation{Role: "loop", Status: run})
	for name, want := range map[string]float64{
		"replay_games_total": 1, "replay_positions_total": 2, "replay_duplicates_total": 3, "replay_quarantined_total": 4,
		"trainer_steps_total": 5, "trainer_samples_total": 6,
		"replay_games": 1000, "replay_positions": 2000, "replay_duplicates": 30, "replay_quarantined": 40, "trainer_steps": 500, "trainer_samples": 6000,
	} {
		if v, there := found[namespace+name]; !there || v != want {
			t.Errorf("%s: found %g (there: %v), expected %g", name, v, there, want)
		}
	}
}
