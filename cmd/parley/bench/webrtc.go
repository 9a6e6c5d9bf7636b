package bench

import (
	"context"
	"errors"
	"fmt"
)

// runWebRTC measures sessions over WebRTC, and telephone calls beside them.
func (c Call) runWebRTC(ctx context.Context) ([]Row, error) {
	floor, err := c.floor(ctx)
	if err != nil {
		return nil, fmt.Errorf("floor: %w", err)
	}
	rows, cost, err := c.measureWebRTC(ctx)
	if err != nil {
		return nil, err
	}
	beside := c
	beside.Profile = "" // which the sessions have filled
	_, phone, err := beside.measure(ctx)
	if err != nil {
		return nil, fmt.Errorf("telephone calls: %w", err)
	}
	g := group(rows[0].Group)
	// A frame is 20 ms: what share of one processor a call takes.
	share := func(us float64) float64 { return us / float64(frameTime.Microseconds()) * 100 }
	first := []Row{g.beside("floor", floor, floor), g.beside("processor time of a call", cost, floor), g.beside("the same on the telephone", phone, floor),
		g.row("of one processor, a call", share(cost), "%"), g.row("of one processor, a call on the telephone", share(phone), "%")}
	return append(first, rows...), nil
}

// measureWebRTC makes the calls; see measure.
func (c Call) measureWebRTC(ctx context.Context) ([]Row, float64, error) {
	s, err := newSwitchboard(agents{c.agent()})
	if err != nil {
		return nil, 0, err
	}
	result, cost, err := c.generate(ctx, loadOrder{Calls: c.Calls, WebRTC: s.addr}, s.sent)
	full := portDrops(s.port)
	if err := errors.Join(err, s.close()); err != nil {
		return nil, 0, err
	}
	g, total := group(fmt.Sprintf("%d calls over WebRTC, %s", c.Calls, c.name())), s.total()
	return []Row{
		g.most("calls dropped", float64(result.Dropped), "", 0),
		g.most("packets lost at the caller", float64(result.Lost), "", 0),
		g.most("packets lost at the server", float64(total.Lost), "", 0),
		g.row("dropped by the system, no room at the port", float64(full), ""),
		g.row("dropped by the session, nobody took them", float64(total.Dropped), ""),
		g.row("came too late", float64(total.Late), ""),
		g.row("frames skipped by the server", float64(total.Skipped), ""),
		g.row("agent speaking", percent(result.Audible, result.Frames), "%"),
		g.row("late packets of the generator", percent(result.Late, result.Sent), "%"),
	}, cost, nil
}
