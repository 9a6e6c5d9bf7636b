package mediatest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"testing"
)

// FreePorts finds ten ports in a row on the loopback address, of UDP and TCP, for a program that must be
// told its own. No other test has them until this one ends, whatever process runs it, and neither the
// kernel, nor a server with its default range, nor a relay of a test takes one by itself. It returns the
// first.
func FreePorts(t testing.TB) int {
	t.Helper()
	for range 200 {
		first := 30800 + 10*rand.N(190)
		// A name in Linux's abstract namespace is one process's at a time, and free when that dies.
		held, err := net.Listen("unix", fmt.Sprintf("@parley-test-ports-%d", first))
		if err != nil {
			continue
		}
		if allFree(first) {
			t.Cleanup(func() { held.Close() })
			return first
		}
		held.Close()
	}
	t.Fatal("no free ports")
	return 0
}

func allFree(first int) bool {
	for port := first; port < first+10; port++ {
		at := fmt.Sprintf("127.0.0.1:%d", port)
		tcp, err := net.Listen("tcp", at)
		if err != nil {
			return false
		}
		udp, err := net.ListenPacket("udp", at)
		tcp.Close()
		if err != nil {
			return false
		}
		udp.Close()
	}
	return true
}
