package node

import (
	"testing"

	"parley/cmd/parley/config"
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
		{"postgres://u:p@db1:5432,db2:5433/x?target_session_attrs=read-write", 24, "postgres://u:p@db1:5432,db2:5433/x?pool_max_conns=20&target_session_attrs=read-write",
			"postgres://u:p@db1:5432,db2:5433/x?pool_max_conns=4&target_session_attrs=read-write"},
		{"postgres://u:p@db/x", 0, "postgres://u:p@db/x", "postgres://u:p@db/x"},
	} {
		if _, _, err := config.Load(config.Sources{Env: []string{"PARLEY_DATABASE_URL=" + tt.address}}); err != nil {
			t.Errorf("%s is refused: %v", tt.address, err)
		}
		if calls, jobs := shareConnections(tt.address, tt.connections); calls != tt.calls || jobs != tt.jobs {
			t.Errorf("%s, %d: %s and %s", tt.address, tt.connections, calls, jobs)
		}
	}
}
