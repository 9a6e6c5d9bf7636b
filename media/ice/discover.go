package ice

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"github.com/pion/stun/v4"
)

// repeatAfter is how long a STUN server has to answer before it is asked again; each time it has twice as long (RFC 8489 section
// 6.2.1).
const repeatAfter = 500 * time.Millisecond

// ErrNoAddress is the error of a server that does not say where it sees us.
var ErrNoAddress = errors.New("the STUN server does not say our address")

// Discover asks a STUN server (RFC 8489), by host:port, from which address our packets come to it, until ctx ends.
func Discover(ctx context.Context, server string) (netip.Addr, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "udp", server)
	if err != nil {
		return netip.Addr{}, fmt.Errorf("%w: %w", ErrNoAddress, err)
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	req, err := stun.Build(stun.TransactionID, stun.BindingRequest, stun.Fingerprint)
	if err != nil {
		return netip.Addr{}, err
	}
	for wait := repeatAfter; ctx.Err() == nil; wait *= 2 {
		_, _ = conn.Write(req.Raw) // a server that is not there yet may be later
		_ = conn.SetReadDeadline(time.Now().Add(wait))
		if at, ok := mapped(conn, req.TransactionID); ok {
			return at, nil
		}
		if errors.Is(conn.SetReadDeadline(time.Time{}), net.ErrClosed) {
			break
		}
	}
	return netip.Addr{}, fmt.Errorf("%w: %w", ErrNoAddress, context.Cause(ctx))
}

// mapped reads up to the response to our request, or the read deadline.
func mapped(conn net.Conn, id [stun.TransactionIDSize]byte) (at netip.Addr, ok bool) {
	b := make([]byte, 1500)
	for {
		n, err := conn.Read(b)
		if errors.Is(err, net.ErrClosed) || isTimeout(err) {
			return at, false
		}
		var res stun.Message
		var mapped stun.XORMappedAddress
		if err != nil || stun.Decode(b[:n], &res) != nil || res.TransactionID != id || res.Type != stun.BindingSuccess || mapped.GetFrom(&res) != nil {
			continue // refused by the host, for now, or a stranger's
		}
		at, ok = netip.AddrFromSlice(mapped.IP)
		return at.Unmap(), ok && !at.IsUnspecified()
	}
}

func isTimeout(err error) bool {
	e, ok := errors.AsType[net.Error](err)
	return ok && e.Timeout()
}
