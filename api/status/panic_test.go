package status

import (
	"context"
	"testing"

	"parley/media/isolate/isolatetest"
)

// TestPanicOfACheck: a server that cannot look at itself is not ready, and looks anew.
func TestPanicOfACheck(t *testing.T) {
	isolatetest.Each(t, func(t *testing.T, site isolatetest.Site) {
		s := &Server{Database: func(context.Context) error { return nil }}
		isolatetest.Inject(t, site.Name)
		if s.check().ready() {
			t.Error("it is ready, though a check of it has a fault")
		}
		s.state.Forget()
		if !s.check().ready() {
			t.Error("it is not ready again")
		}
	})
}
