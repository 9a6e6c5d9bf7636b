package bench

import (
	"context"
	"net"
	"sync"
)

// floor is the least that the same packets cost in this process: for each call one
// goroutine that blocks in a read and answers in the same wake-up.
func (c Call) floor(ctx context.Context) (float64, error) {
	var wg sync.WaitGroup
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
		wg.Go(func() { answer(conn) })
	}
	l, err := c.start(ctx, loadOrder{Calls: c.Calls, Ports: ports})
	if err != nil {
		return 0, err
	}
	// A third as long: plain packets vary less than calls.
	cost, err := c.window(ctx, c.Length/3)
	if _, stopErr := l.stop(); err == nil {
		err = stopErr
	}
	return cost, err
}

func answer(conn *net.UDPConn) {
	var buf [1500]byte
	for {
		n, from, err := conn.ReadFromUDPAddrPort(buf[:])
		if err != nil {
			return
		}
		_, _ = conn.WriteToUDPAddrPort(buf[:n], from) // a lost packet is the socket's business
	}
}
