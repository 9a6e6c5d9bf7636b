package task

import (
	"testing"

	"parley/media"
)

// counting is an encoder that counts what it is given.
type counting struct{ n int }

func (c *counting) Write(samples []int16) error { c.n += len(samples); return nil }
func (c *counting) Close() error                { return nil }

// A result is as long as what was spoken, whatever part of a frame its end is.
func TestRewrittenLength(t *testing.T) {
	for _, to := range []media.Rate{media.Rate8k, media.Rate22k, media.Rate44k} {
		for _, n := range []int{1, 881, 882, 883, 44_100, 68_000} {
			c := &counting{}
			w := newRewriter(c, media.Rate44k, to)
			for left := n; left > 0; left -= min(left, 500) {
				if err := w.write(make([]int16, min(left, 500))); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.flush(); err != nil {
				t.Fatal(err)
			}
			if want := n * int(to) / int(media.Rate44k); c.n < want || c.n > want+1 {
				t.Errorf("%d samples became %d at %v, want %d", n, c.n, to, want)
			}
		}
	}
}
