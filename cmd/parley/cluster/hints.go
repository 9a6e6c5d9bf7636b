package cluster

import (
	"context"
	"strings"
	"time"

	"parley/store"
	"parley/store/bus"
)

// hintPause is how long this node waits after it has told hints: those that come meanwhile are one message.
const hintPause = 50 * time.Millisecond

// tellHints publishes what there may be to do because of this node: its name, and the hints, a line each.
func (m *Member) tellHints(ctx context.Context) {
	hints := m.cfg.Store.Hints()
	for {
		select {
		case <-ctx.Done():
			return
		case <-hints.Due():
		}
		text := []byte(m.name())
		for _, hint := range hints.Take() {
			text = append(append(text, '\n'), hint...)
		}
		m.publish(bus.Hints(), nil, text, "the other nodes were not told what there is to do")
		select {
		case <-ctx.Done():
		case <-time.After(hintPause):
		}
	}
}

// hearHints gives the hints of another node to those who wait for them here.
func (m *Member) hearHints(in bus.Message) {
	name, hints, _ := strings.Cut(string(in.Payload), "\n")
	if name == m.name() {
		return
	}
	for hint := range strings.SplitSeq(hints, "\n") {
		m.cfg.Store.Hints().Hear(store.Hint(hint))
	}
}
