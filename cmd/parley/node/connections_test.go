package node

import (
	"testing"
)

func TestShareConnections(t *testing.T) {
	for _, tt := range []struct {
		address     string
		connections int
		calls, jobs string
	}{
		{"postgres://u:p@db/x", 24, "postgres://u:p@db/x?pool_max_conns=20", "postgres://u:p@db/x?pool_max_conns=4"},
		{"postgres://u:p@db/x?sslmode=disable", 6, "postgres://u:p@db/x?pool_max_conns=4&sslmode=disable", "postgres://u:p@db/x?pool_max_conns=2&sslmode=disable"},
		{"postgres://u:p@db/x?pool_max_conns=7", 24, "postgres://u:p@db/x?pool_max_conns=7", "postgres://u:p@db/x?pool_max_conns=7"},
		{"postgres://u:p@db/x", 0, "postgres://u:p@db/x", "postgres://u:p@db/x"},
	} {
		if calls, jobs := shareConnections(tt.address, tt.connections); calls != tt.calls || jobs != tt.jobs {
			t.Errorf("%s, %d: %s and %s", tt.address, tt.connections, calls, jobs)
		}
	}
}
