package amd_test

import (
	"testing"

	"parley/media"
	"parley/pipeline/amd"
)

// What a mistake costs. A machine that is taken for a person, or for nobody known, hears the agent talk;
// a person who is taken for a machine is hung up on. Whoever waits is a little annoyed.
const (
	costOfHangingUp = 5.0
	costOfTalking   = 1.0
	costOfSecond    = 0.05
)

// cost of what d makes of g.
func cost(g *greeting, d *amd.Detector) (sum float64) {
	v, at := g.verdict(d)
	switch {
	case g.who == amd.Human && v == amd.Machine:
		sum = costOfHangingUp
	case g.who == amd.Machine && v != amd.Machine:
		sum = costOfTalking
	}
	return sum + costOfSecond*at.Duration().Seconds()
}

// TestThresholds chooses thresholds by one half of the greetings: the detector has them. The other half says how good it is.
func TestThresholds(t *testing.T) {
	t.Parallel()
	all := readGreetings(t)
	synthesise(t, all)
	total := func(s amd.Settings) (sum float64) {
		for _, g := range all {
			if g.choosing {
				sum += cost(g, amd.With(s, g.language, rate))
			}
		}
		return sum
	}
	ours := total(amd.Chosen())
	best, least := amd.Chosen(), ours
	const step = 100 * media.Millisecond
	for pause := 8 * step; pause <= 12*step; pause += 2 * step {
		for longest := 20 * step; longest <= 30*step; longest += 2 * step {
			for late := 13 * step; late <= 19*step; late += 2 * step {
				s := amd.Of(pause, longest, late)
				if sum := total(s); sum < least {
					best, least = s, sum
				}
			}
		}
	}
	t.Logf("%v cost %.2f; the best, %v, %.2f", amd.Chosen(), ours, best, least)
	// Less than one answer is no difference.
	if ours > least+costOfTalking {
		t.Errorf("%v cost %.2f, %v only %.2f", amd.Chosen(), ours, best, least)
	}
	measure(t, all)
}

// rights are how many of the eleven people and eleven machines of the other half are known for what they are.
var rights = map[string]struct{ people, machines int }{
	"en": {9, 9}, "es": {9, 9}, "fr": {10, 9}, "de": {10, 8}, "it": {11, 10}, "pt": {10, 10},
}

// measure reports right and wrong verdicts on the half that nothing was chosen by.
func measure(t *testing.T, all []*greeting) {
	t.Helper()
	type counts [amd.Unknown + 1]int
	people, machines := map[string]counts{}, map[string]counts{}
	for _, g := range all {
		if g.choosing {
			continue
		}
		v, at := g.verdict(amd.New(g.language, rate))
		if v != g.who {
			t.Logf("%v, %d ms after the answer, is taken for %v after %v", g, g.lead, v, at.Duration())
		}
		of := people
		if g.who == amd.Machine {
			of = machines
		}
		for _, which := range []string{g.language, "all"} {
			c := of[which]
			c[v]++
			of[which] = c
		}
	}
	for _, language := range append(greetingLanguages, "all") {
		p, m := people[language], machines[language]
		t.Logf("%-3s people: %d right, %d taken for a machine, %d unknown; machines: %d right, %d taken for a person, %d unknown",
			language, p[amd.Human], p[amd.Machine], p[amd.Unknown], m[amd.Machine], m[amd.Human], m[amd.Unknown])
		if r, margin := rights[language], 2; p[amd.Human] < r.people-margin || m[amd.Machine] < r.machines-margin {
			t.Errorf("%s: %d people and %d machines are known, once %d and %d", language, p[amd.Human], m[amd.Machine], r.people, r.machines)
		}
	}
	if taken := people["all"][amd.Machine]; taken > 6 {
		t.Errorf("%d people are taken for a machine", taken)
	}
}
