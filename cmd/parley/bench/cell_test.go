package bench

import (
	"strings"
	"testing"
	"time"
)

// A short measurement of calls that last a second.
func TestCell(t *testing.T) {
	goroutinesReturn(t)
	c := Cell{Calls: 40, Nodes: 2, Length: 2 * time.Second, lasts: time.Second}
	rows, err := c.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 14 {
		t.Errorf("%d rows", len(rows))
	}
	for _, r := range rows {
		if r.Value <= 0 && !strings.Contains(r.Name, "minute") { // no call lasts long enough for another
			t.Errorf("%+v", r)
		}
		if r.Unit == "/s" != r.AtLeast {
			t.Errorf("bar of %+v", r)
		}
	}
	if _, err := (Cell{Calls: 1, Nodes: 0, Length: time.Second}).Run(t.Context()); err == nil {
		t.Error("a measurement without nodes")
	}
}
