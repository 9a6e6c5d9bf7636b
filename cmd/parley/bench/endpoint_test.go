package bench

import (
	"testing"

	"parley/cmd/parley/bench/endpoint"
)

// TestEndpoint: the rules of endpointing keep to their bars, on turns that they were not tuned on, too. This is simulated time, in
// which bars hold on any machine.
func TestEndpoint(t *testing.T) {
	for _, half := range []endpoint.Half{endpoint.Tuned, endpoint.Judged} {
		for _, j := range judges {
			for _, r := range (Endpoint{half}).bars(j) {
				if r.Verdict() == "short" {
					t.Errorf("half %d, %s: %s is %v %s, the bar is %v", half, r.Group, r.Name, r.Value, r.Unit, *r.Bar)
				}
			}
		}
	}
}
