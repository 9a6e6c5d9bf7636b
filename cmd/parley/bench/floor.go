package bench

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
)

// floor is the least that the same packets cost in this process: for each call one
// goroutine that blocks in a read and answers in the same wake-up.
func (c Call) floor(ctx context.Context) (float64, error) {
	var wg sync.WaitGroup
	var answered atomic.Uint64
	conns := make([]*net.UDPConn, 0, c.Calls)
	defer func() {
		for _, conn := range conns {
			_ = conn.Close()
		}
		wg.Wait()
	}()
	ports := make([]uint16, c.Calls)
	for i := range ports {
		conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: loopback.AsSlice()})
		if err != nil {
			return 0, err
		}
		conns = append(conns, conn)
		ports[i] = uint16(conn.LocalAddr().(*net.UDPAddr).Port)
		wg.Go(func() { answer(conn, &answered) })
	}
	l, err := c.start(ctx, loadOrder{Calls: c.Calls, Ports: ports})
	if err != nil {
		return 0, err
	}
	// A third as long: plain packets vary less than calls.
	cost, err := c.window(ctx, c.Length/3, answered.Load)
	_, stopErr := l.stop()
	return cost, errors.Join(err, stopErr)
}

func answer(conn *net.UDPConn, answered *atomic.Uint64) {
	var buf [1500]byte
	for {
		n, from, err := conn.ReadFromUDPAddrPort(buf[:])
		if err != nil {
			return
		}
		answered.Add(1)
		_, _ = conn.WriteToUDPAddrPort(buf[:n], from) // a lost packet is the socket's business
	}
}
