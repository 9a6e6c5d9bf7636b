package endpoint

import (
	"reflect"
	"slices"
	"testing"

	"parley/media"
	"parley/pipeline/turn"
)

const ms = media.Millisecond

// TestTurns: the turns are as the package comment has them, and always the same.
func TestTurns(t *testing.T) {
	var pauses []media.Time
	for _, language := range Languages {
		for _, half := range []Half{Tuned, Judged} {
			all := calls(language, half)
			if !reflect.DeepEqual(all, calls(language, half)) {
				t.Errorf("%s: the turns of half %d differ from time to time", language, half)
			}
			n, could, words, phrases := 0, 0, 0, 0
			for _, turn := range slices.Concat(all...) {
				n++
				if len(turn) < 2 {
					t.Errorf("%s: a turn without a pause: %v", language, turn)
				}
				for i, p := range turn {
					if phrases++; len(p.words) == 0 || len(p.words) > 10 || (p.pause == 0) != (i == len(turn)-1) {
						t.Errorf("%s: phrase %d of %v", language, i, turn)
					}
					if words += len(p.words); p.pause == 0 {
						continue
					}
					pauses = append(pauses, p.pause)
					if p.could {
						could++
					}
				}
			}
			if inner := phrases - n; n != 100 || 100*could < 31*inner || 100*could > 36*inner || words < 3*phrases {
				t.Errorf("%s, half %d: %d turns; %d words in %d phrases; %d of %d pauses could have been the end", language, half, n, words, phrases, could, inner)
			}
		}
	}
	slices.Sort(pauses)
	at := func(d media.Time) float64 {
		i, _ := slices.BinarySearch(pauses, d)
		return float64(i) / float64(len(pauses))
	}
	if median := pauses[len(pauses)/2]; median < 360*ms || median > 440*ms || at(200*ms) < 0.08 || at(200*ms) > 0.16 || at(media.Second) < 0.91 || at(media.Second) > 0.96 {
		t.Errorf("the median of the pauses is %v; %v of them are below 200 ms, %v below 1 s", median.Duration(), at(200*ms), at(media.Second))
	}
}

// TestPlay: cuts and waits are those of the machine.
func TestPlay(t *testing.T) {
	say := func(wrong bool, pause media.Time, words ...string) phrase {
		p := phrase{pause: pause, wrong: wrong, final: 80 * ms}
		for _, w := range words {
			p.words = append(p.words, word{w, 300 * ms, 200 * ms})
		}
		return p
	}
	for _, c := range []struct {
		name   string
		floor  media.Time
		scorer bool
		wrong  bool // in the pause
		pause  media.Time
		cut    bool
		wait   media.Time
	}{
		{"a pause that is longer than the wait cuts", 200 * ms, false, false, 1000 * ms, true, 200 * ms},
		{"one that is shorter does not", 1000 * ms, false, false, 980 * ms, false, 1000 * ms},
		{"nor one that ends before the words are there", 100 * ms, false, false, 140 * ms, false, 180 * ms},
		{"nor one that a scorer knows for one", 200 * ms, true, false, 1000 * ms, false, 200 * ms},
		{"one that it takes for the end does", 200 * ms, true, true, 1000 * ms, true, 200 * ms},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := turn.DefaultConfig("en")
			cfg.MinDelay, cfg.LearntMax, cfg.Scorer = c.floor, 0, c.scorer
			cfg.Complete = func(string) float64 { return 0.9 }
			var r Result
			r.add(cfg, call{{say(c.wrong, c.pause, "a", "table", "please"), say(false, 0, "for", "two")}, {say(false, 0, "yes")}})
			if (r.Cut == 1) != c.cut || r.Turns != 2 || r.Waits[0] != c.wait || r.Waits[1] != c.wait {
				t.Errorf("%d of %d turns were cut, the waits were %v ms", r.Cut, r.Turns, []int64{r.Waits[0].Milliseconds(), r.Waits[1].Milliseconds()})
			}
		})
	}
}
