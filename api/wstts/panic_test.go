package wstts_test

import (
	"testing"
	"testing/synctest"

	"parley/api/apitest"
	"parley/media/isolate/isolatetest"
)

// TestPanicOfTheKeepAlive: the job goes on without it, is answered and charged.
func TestPanicOfTheKeepAlive(t *testing.T) {
	isolatetest.Each(t, func(t *testing.T, site isolatetest.Site) {
		synctest.Test(t, func(t *testing.T) {
			s := newServer(t, apitest.InMemory, quick())
			isolatetest.Inject(t, site.Name)
			c := s.connect(t, "/ws/tts")
			c.ask("Hello.")
			c.wantEOS()
			for _, j := range s.books.all() {
				if !j.ended || j.err != nil || j.used != 6 {
					t.Errorf("books: %+v", j)
				}
			}
		})
	})
}
