package sip_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"net"
	"strings"
	"testing"

	"parley/sip"
)

// lies are what a far end may put in place of the words of a message.
var lies = []string{"", "-1", "0", "1", "65535", "65536", "4294967295", "4294967296", "9223372036854775808", "99999999999999999999", "0x10", "1, 2", ",", ";", "=", "?", "@", "[", "]", "[::1", "<", ">",
	"*", "\"", "\\", "\t", " ", "\r", "\n", "\r\n", "\r\n\r\n", "\x00", "\xff", "sip:", "sip:@", "sip:[", "sip:a?", "sip:a;\t", "sips:a:-1", "tel:", "SIP/2.0", "SIP/", "ACK", "CANCEL", "\x16\x03\x01\x02\x00\x01\x00"}

// TestHostileBytes: the library reads streams, start lines and transactions on goroutines of
// its own, where nobody recovers a panic. Whatever a far end writes, the server goes on: were
// there a panic, it would end this test with its process.
func TestHostileBytes(t *testing.T) {
	both(t, func(t *testing.T, network string) {
		ua := serve(t, sip.Config{SourceRate: 1 << 20, OnCall: func(_ context.Context, in *sip.Incoming) { in.Reject(404, "", 0) }})
		p := newPeer(t, ua, network)
		invite := p.request("INVITE", p.offer())
		response := "SIP/2.0 486 Busy Here" + invite[strings.Index(invite, "\r\n"):]
		texts := []string{invite, p.request("OPTIONS", ""), response, strings.Replace(response, "486 Busy Here", "200 OK", 1), p.request("CANCEL", "")}
		random := rand.New(rand.NewPCG(1, 2))
		for _, text := range texts {
			words := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" ;:=<>@\r\n", r) })
			for range 300 {
				hostile := []byte(text)
				for range 1 + random.IntN(3) {
					word, lie := words[random.IntN(len(words))], lies[random.IntN(len(lies))]
					if i := random.IntN(len(hostile) + 1); random.IntN(3) == 0 {
						hostile = append(append(bytes.Clone(hostile[:i]), lie...), hostile[i:]...)
					} else {
						hostile = bytes.Replace(hostile, []byte(word), []byte(lie), 1+random.IntN(2))
					}
				}
				if random.IntN(8) == 0 {
					hostile = hostile[:random.IntN(len(hostile)+1)]
				}
				if network == "udp" {
					_, _ = p.udp.Write(hostile)
					continue
				}
				conn, err := net.Dial("tcp", ua.Addr().String())
				if err != nil {
					t.Fatal(err)
				}
				cut := random.IntN(len(hostile) + 1) // TCP delivers what it likes at a time
				_, _ = conn.Write(hostile[:cut])
				_, _ = conn.Write(hostile[cut:])
				_ = conn.Close()
			}
			eventually(t, "another far end is heard", func() bool {
				q := newPeer(t, ua, network)
				res := q.insist(q.request("OPTIONS", ""))
				return res != nil && res.StatusCode == 200
			})
		}
		eventually(t, "nothing is left", func() bool { s := ua.Stats(); return s.Calls == 0 && s.Ringing == 0 })
	})
}
