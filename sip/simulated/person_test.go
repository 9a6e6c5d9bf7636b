package simulated

import "testing"

// TestPerson: each line of people's was recorded, and nothing else.
func TestPerson(t *testing.T) {
	for _, line := range person {
		if samples, ok := Person(line); !ok || len(samples) < 4000 {
			t.Errorf("%q: %d samples", line, len(samples))
		}
	}
	if _, ok := Person(machine[0]); ok {
		t.Error("machines have a voice of the server's")
	}
}
