package srtp_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"

	"parley/media/mediatest"
	"parley/media/srtp"
)

var suites = []srtp.Suite{srtp.AESHMAC80, srtp.AESHMAC32, srtp.AESGCM}

func sender(t testing.TB, s srtp.Suite, k srtp.Key) *srtp.Sender {
	t.Helper()
	x, err := srtp.NewSender(s, k)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func receiver(t testing.TB, s srtp.Suite, k srtp.Key) *srtp.Receiver {
	t.Helper()
	x, err := srtp.NewReceiver(s, k)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// packet is an RTP packet of n bytes of payload with room for what protects it.
func packet(ssrc uint32, seq uint16, n int) []byte {
	b := make([]byte, 12+n, 12+n+srtp.Overhead)
	b[0] = 0x80
	binary.BigEndian.PutUint16(b[2:], seq)
	binary.BigEndian.PutUint32(b[8:], ssrc)
	for i := range n {
		b[12+i] = byte(i)
	}
	return b
}

func seal(t testing.TB, s *srtp.Sender, b []byte) []byte {
	t.Helper()
	out, err := s.RTP(b)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// The master key of RFC 3711 appendix B.3, and what it makes of a packet by the
// account of another implementation.
func TestKnownAnswer(t *testing.T) {
	master, _ := hex.DecodeString("e1f97a0d3e018be0d64fa32c06de4139" + "0ec675ad498afeebb6960b3aabe6")
	key, ok := srtp.ParseKey(srtp.AESHMAC80, base64.StdEncoding.EncodeToString(master))
	if !ok {
		t.Fatal("the key was refused")
	}
	plain, _ := hex.DecodeString("800f1234decafbadcafebabe" + strings.Repeat("ab", 16))
	want := "800f1234decafbadcafebabe4e55dc4ce79978d88ca4d215949d2402b78d6acc99ea179b8dbb"
	sealed := seal(t, sender(t, srtp.AESHMAC80, key), append(make([]byte, 0, 64), plain...))
	if got := hex.EncodeToString(sealed); got != want {
		t.Errorf("sealed as %s, want %s", got, want)
	}
	if back, err := receiver(t, srtp.AESHMAC80, key).RTP(sealed); err != nil || !bytes.Equal(back, plain) {
		t.Errorf("opened as %x, %v", back, err)
	}
}

func TestThereAndBack(t *testing.T) {
	for _, s := range suites {
		key := srtp.NewKey(s)
		again, ok := srtp.ParseKey(s, key.Inline(s))
		if !ok || again != key {
			t.Fatalf("%v: the key does not survive its own text", s)
		}
		tx, rx := sender(t, s, key), receiver(t, s, again)
		// Over the wrap of the sequence number.
		for i := range 2_000 {
			plain := packet(7, uint16(65_000+i), 160)
			sealed := seal(t, tx, packet(7, uint16(65_000+i), 160))
			if bytes.Contains(sealed, plain[12:40]) {
				t.Fatalf("%v: packet %d is not encrypted", s, i)
			}
			if back, err := rx.RTP(sealed); err != nil || !bytes.Equal(back, plain) {
				t.Fatalf("%v: packet %d: %v", s, i, err)
			}
		}
	}
}

func TestForgedAndRepeatedPacketsAreRefused(t *testing.T) {
	for _, s := range suites {
		key := srtp.NewKey(s)
		tx, rx := sender(t, s, key), receiver(t, s, key)
		sealed := seal(t, tx, packet(7, 1, 160))
		for i := range sealed {
			bad := bytes.Clone(sealed)
			bad[i] ^= 1
			if _, err := rx.RTP(bad); err == nil {
				t.Fatalf("%v: byte %d was changed, and nobody noticed", s, i)
			}
		}
		for n := range sealed {
			if _, err := rx.RTP(sealed[:n]); err == nil {
				t.Fatalf("%v: %d bytes of a packet were taken for one", s, n)
			}
		}
		if _, err := receiver(t, s, srtp.NewKey(s)).RTP(sealed); err == nil {
			t.Errorf("%v: opened with another key", s)
		}
		if _, err := rx.RTP(sealed); err != nil {
			t.Errorf("%v: the packet itself: %v", s, err)
		}
		if _, err := rx.RTP(sealed); err == nil {
			t.Errorf("%v: the same packet came twice", s)
		}
	}
}

func TestRTCP(t *testing.T) {
	for _, s := range suites {
		key := srtp.NewKey(s)
		tx, rx := sender(t, s, key), receiver(t, s, key)
		plain := []byte{0x80, 201, 0, 1, 0, 0, 0, 7, 0x81, 202, 0, 3, 0, 0, 0, 7, 1, 4, 'n', 'a', 'm', 'e', 0, 0}
		for range 3 {
			sealed, err := tx.RTCP(append(make([]byte, 0, 100), plain...))
			if err != nil || bytes.Contains(sealed, []byte("name")) {
				t.Fatalf("%v: %v, % x", s, err, sealed)
			}
			bad := bytes.Clone(sealed)
			bad[9] ^= 1
			if _, err := rx.RTCP(bad); err == nil {
				t.Errorf("%v: a forged report was taken", s)
			}
			if back, err := rx.RTCP(sealed); err != nil || !bytes.Equal(back, plain) {
				t.Errorf("%v: % x, %v", s, back, err)
			}
			if _, err := rx.RTCP(sealed); err == nil {
				t.Errorf("%v: a report was taken twice", s)
			}
		}
	}
}

// A stream that goes on under a new key may count its wraps from the start or go
// on; either is understood, and what is still under way with the old key too.
func TestChangeOfKeys(t *testing.T) {
	for _, s := range suites {
		for _, goesOn := range []bool{true, false} {
			old, next := srtp.NewKey(s), srtp.NewKey(s)
			tx, rx := sender(t, s, old), receiver(t, s, old)
			for i := range 1000 {
				if _, err := rx.RTP(seal(t, tx, packet(7, uint16(65_000+i), 20))); err != nil {
					t.Fatal(err)
				}
			}
			first := uint16(66_000 % 65_536)
			onTheWay := seal(t, tx, packet(7, first, 20))
			after := receiver(t, s, next)
			after.Follow(rx, s, next)
			if _, err := after.RTP(onTheWay); err != nil {
				t.Errorf("%v: a packet of the old key: %v", s, err)
			}
			tx = sender(t, s, next)
			if goesOn {
				// Its own count of wraps is the one it had.
				seal(t, tx, packet(7, 65_000, 20))
				seal(t, tx, packet(7, first, 20))
			}
			for i := range 10 {
				if _, err := after.RTP(seal(t, tx, packet(7, first+1+uint16(i), 20))); err != nil {
					t.Errorf("%v, goes on %v: packet %d of the new key: %v", s, goesOn, i, err)
				}
			}
			if _, err := after.RTP(seal(t, sender(t, s, old), packet(8, 1, 20))); err == nil {
				t.Errorf("%v: the old key is still good", s)
			}
		}
	}
}

func TestKeysDoNotShow(t *testing.T) {
	keys := srtp.Keys{Suite: srtp.AESHMAC80, Send: srtp.NewKey(srtp.AESHMAC80), Receive: srtp.NewKey(srtp.AESHMAC80)}
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "keys", keys, "key", keys.Send, "in", []any{keys})
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "keys", keys, "key", keys.Send)
	js, err := json.Marshal(keys)
	if err != nil {
		t.Fatal(err)
	}
	all := log.String() + string(js)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%d", "%q"} {
		all += fmt.Sprintf(verb+verb+verb, keys, &keys, keys.Send)
	}
	inline := keys.Send.Inline(keys.Suite)
	raw, _ := base64.StdEncoding.DecodeString(inline)
	for _, secret := range []string{inline, hex.EncodeToString(raw), strings.Trim(fmt.Sprint(raw), "[]"), inline[:12]} {
		if strings.Contains(all, secret) {
			t.Errorf("a key shows in %s", all)
		}
	}
}

func TestParseKeyRefuses(t *testing.T) {
	good := srtp.NewKey(srtp.AESHMAC80).Inline(srtp.AESHMAC80)
	for _, text := range []string{"", "!", good[:len(good)-4], good + "AAAA", srtp.NewKey(srtp.AESGCM).Inline(srtp.AESGCM)} {
		if _, ok := srtp.ParseKey(srtp.AESHMAC80, text); ok {
			t.Errorf("%q is a key", text)
		}
	}
	if one, other := srtp.NewKey(srtp.AESHMAC80), srtp.NewKey(srtp.AESHMAC80); one == other {
		t.Error("two keys are equal")
	}
}

// Neither way of a stream under way allocates.
func TestNoAllocations(t *testing.T) {
	for _, s := range suites {
		key := srtp.NewKey(s)
		tx, rx := sender(t, s, key), receiver(t, s, key)
		buf, report := packet(7, 0, 160), append(make([]byte, 0, 100), 0x80, 201, 0, 1, 0, 0, 0, 7)
		seq := uint16(0)
		mediatest.NoAllocs(t, func() {
			seq++
			buf[0] = 0x80
			binary.BigEndian.PutUint16(buf[2:], seq)
			if _, err := rx.RTP(seal(t, tx, buf)); err != nil {
				t.Fatal(err)
			}
			if s == srtp.AESGCM {
				return // the library makes an object of each report, one in 5 s
			}
			sealed, err := tx.RTCP(report)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := rx.RTCP(sealed); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func BenchmarkPacket(b *testing.B) {
	for _, s := range suites {
		b.Run(s.String(), func(b *testing.B) {
			key := srtp.NewKey(s)
			tx, rx := sender(b, s, key), receiver(b, s, key)
			buf := packet(7, 0, 160)
			b.ReportAllocs()
			for i := range b.N {
				binary.BigEndian.PutUint16(buf[2:], uint16(i))
				if _, err := rx.RTP(seal(b, tx, buf)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Whatever comes to an open port is refused without harm.
func TestGarbage(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, s := range suites {
		key := srtp.NewKey(s)
		rx := receiver(t, s, key)
		for range 5_000 {
			b := make([]byte, rng.IntN(120))
			for i := range b {
				b[i] = byte(rng.Uint32())
			}
			if len(b) > 1 && rng.IntN(2) == 0 { // likely to be looked into
				b[0], b[1] = 0x80|b[0]&0x3F, 200
			}
			if _, err := rx.RTP(b); err == nil {
				t.Fatalf("%v: % x is a packet", s, b)
			}
			if _, err := rx.RTCP(b); err == nil {
				t.Fatalf("%v: % x is a report", s, b)
			}
		}
		if _, err := rx.RTP(seal(t, sender(t, s, key), packet(7, 1, 160))); err != nil {
			t.Errorf("%v: after it the packet itself: %v", s, err)
		}
	}
}

// TestNamedKeys: packets under a key with an identifier carry it before the tag (RFC 3711
// section 3.1), and others are refused.
func TestNamedKeys(t *testing.T) {
	for _, s := range suites {
		key, ok := srtp.NewKey(s).Named(258, 4)
		other, _ := key.Named(3, 4)
		if !ok {
			t.Fatal("the identifier was refused")
		}
		in, out := receiver(t, s, key), sender(t, s, key)
		plain := packet(7, 1, 160)
		sealed := bytes.Clone(seal(t, out, packet(7, 1, 160)))
		if !bytes.Contains(sealed, []byte{0, 0, 1, 2}) {
			t.Errorf("%v: no identifier in %x", s, sealed[172:])
		}
		if back, err := in.RTP(sealed); err != nil || !bytes.Equal(back, plain) {
			t.Errorf("%v: opened as %x, %v", s, back, err)
		}
		for name, k := range map[string]srtp.Key{"another identifier": other, "none": key.NamedAs(srtp.Key{})} {
			if _, err := in.RTP(seal(t, sender(t, s, k), packet(7, 2, 160))); err == nil {
				t.Errorf("%v: a packet with %s was opened", s, name)
			}
		}
		report := make([]byte, 8, 8+srtp.Overhead)
		report[0], report[1], report[3] = 0x80, 201, 1
		sealedReport, err := out.RTCP(report)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := in.RTCP(sealedReport); err != nil {
			t.Errorf("%v: a report was refused: %v", s, err)
		}
	}
	for _, c := range []struct {
		mki    uint32
		length int
	}{{1, 0}, {1, 5}, {256, 1}, {1 << 24, 3}} {
		if _, ok := srtp.NewKey(srtp.AESHMAC80).Named(c.mki, c.length); ok {
			t.Errorf("%d in %d bytes was taken", c.mki, c.length)
		}
	}
}
