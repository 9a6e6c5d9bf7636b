// Package icetest has a STUN server for tests.
package icetest

import (
	"net"
	"testing"

	"github.com/pion/stun/v4"
)

// Server is a STUN server on loopback, until the test is over. It answers what answer makes of the n-th request; nil: nothing.
func Server(t testing.TB, answer func(n int, req *stun.Message) *stun.Message) (addr string) {
	t.Helper()
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() { conn.Close(); <-done })
	go func() {
		defer close(done)
		b := make([]byte, 1500)
		for asked := 1; ; asked++ {
			n, from, err := conn.ReadFromUDPAddrPort(b)
			if err != nil {
				return
			}
			var req stun.Message
			if stun.Decode(b[:n], &req) != nil || req.Type != stun.BindingRequest {
				t.Errorf("% x", b[:n])
				return
			}
			if res := answer(asked, &req); res != nil {
				_, _ = conn.WriteToUDPAddrPort(res.Raw, from)
			}
		}
	}()
	return conn.LocalAddr().String()
}

// Seen is the response that says an address.
func Seen(req *stun.Message, addr string) *stun.Message {
	return stun.MustBuild(stun.NewTransactionIDSetter(req.TransactionID), stun.BindingSuccess,
		stun.XORMappedAddress{IP: net.ParseIP(addr), Port: 4711}, stun.Fingerprint)
}
