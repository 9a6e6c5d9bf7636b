package srtp_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"parley/media/srtp"
)

// far is a sender of one stream, numbered on as its packets are.
type far struct {
	*srtp.Sender
	seq uint32 // with the wraps
}

func (f *far) seal(t *testing.T) []byte {
	t.Helper()
	f.seq++
	return bytes.Clone(seal(t, f.Sender, packet(7, uint16(f.seq), 20)))
}

// reach seals packets up to a number without sending them, in steps that a receiver follows.
func (f *far) reach(t *testing.T, seq uint32) {
	t.Helper()
	for f.seq+30_000 < seq {
		f.seq += 30_000 - 1
		f.seal(t)
	}
	f.seq = seq - 1
	f.seal(t)
}

// TestResume: a receiver opens a stream that another one has opened up to a packet, whether the wrap comes before that, between the two,
// or later, and whether the far end keeps its key or has a new one; and what was sent before is a repetition.
func TestResume(t *testing.T) {
	for _, s := range suites {
		for _, left := range []uint32{100, 65_535, 65_536, 65_600, 131_071, 140_000, 200_000} {
			for _, skipped := range []uint32{0, 1, 5, 20_000} {
				t.Run(fmt.Sprintf("%v/%d/%d", s, left, skipped), func(t *testing.T) {
					key := srtp.NewKey(s)
					f, rx := far{Sender: sender(t, s, key)}, receiver(t, s, key)
					var before []byte
					for f.seq < left {
						f.reach(t, min(f.seq+30_000, left)-1)
						before = f.seal(t)
						if _, err := rx.RTP(before); err != nil {
							t.Fatal(err)
						}
					}
					at := rx.Position()
					if want := (srtp.Position{SSRC: 7, ROC: left >> 16, Seq: uint16(left)}); at != want {
						t.Fatalf("position %+v, want %+v", at, want)
					}

					again := receiver(t, s, key)
					again.Resume(at, s, key)
					if got := again.Position(); got != at {
						t.Errorf("position %+v, want %+v", got, at)
					}
					if _, err := again.RTP(before); err == nil {
						t.Error("the last packet was opened twice")
					}
					f.reach(t, left+skipped)
					for range 300 {
						if _, err := again.RTP(f.seal(t)); err != nil {
							t.Fatalf("packet %d: %v", f.seq, err)
						}
					}
					if got := again.Position(); got.ROC != f.seq>>16 || got.Seq != uint16(f.seq) {
						t.Errorf("position %+v, want that of %d", got, f.seq)
					}

					// Its numbers go on, and its wraps are counted from 0.
					key = srtp.NewKey(s)
					again = receiver(t, s, key)
					again.Resume(at, s, key)
					f.Sender = sender(t, s, key)
					for range 300 {
						if _, err := again.RTP(f.seal(t)); err != nil {
							t.Fatalf("packet %d of the new key: %v", f.seq, err)
						}
					}
				})
			}
		}
	}
}

// TestResumeAnotherStream: the far end begins another stream first, and goes on with the one before.
func TestResumeAnotherStream(t *testing.T) {
	key := srtp.NewKey(srtp.AESHMAC80)
	f := far{Sender: sender(t, srtp.AESHMAC80, key), seq: 65_000}
	f.seal(t)
	f.reach(t, 66_000)
	rx := receiver(t, srtp.AESHMAC80, key)
	rx.Resume(srtp.Position{SSRC: 7, ROC: 1, Seq: uint16(f.seq)}, srtp.AESHMAC80, key)
	if _, err := rx.RTP(seal(t, f.Sender, packet(8, 60_000, 20))); err != nil {
		t.Errorf("another stream: %v", err)
	}
	if got := rx.Position(); got != (srtp.Position{SSRC: 8, Seq: 60_000}) {
		t.Errorf("position %+v", got)
	}
	if _, err := rx.RTP(f.seal(t)); err != nil {
		t.Errorf("the stream before: %v", err)
	}
}

// TestPosition: packets that come late, over a wrap too, do not set it back; another stream has one of its own.
func TestPosition(t *testing.T) {
	key := srtp.NewKey(srtp.AESHMAC80)
	tx, rx := sender(t, srtp.AESHMAC80, key), receiver(t, srtp.AESHMAC80, key)
	if got := rx.Position(); got != (srtp.Position{}) {
		t.Errorf("%+v before the first packet", got)
	}
	sealed := map[uint32][]byte{}
	for seq := uint32(65_530); seq < 65_545; seq++ {
		sealed[seq] = bytes.Clone(seal(t, tx, packet(0, uint16(seq), 20)))
	}
	for _, c := range []struct {
		seq  uint32
		want srtp.Position
	}{
		{65_532, srtp.Position{Seq: 65_532}}, {65_530, srtp.Position{Seq: 65_532}}, {65_538, srtp.Position{ROC: 1, Seq: 2}},
		{65_535, srtp.Position{ROC: 1, Seq: 2}}, {65_537, srtp.Position{ROC: 1, Seq: 2}}, {65_540, srtp.Position{ROC: 1, Seq: 4}},
	} {
		if _, err := rx.RTP(sealed[c.seq]); err != nil {
			t.Fatal(err)
		}
		if got := rx.Position(); got != c.want {
			t.Errorf("after %d %+v, want %+v", c.seq, got, c.want)
		}
	}
}

// TestSuiteText: a suite is written as a=crypto has it, and another one is not read.
func TestSuiteText(t *testing.T) {
	for _, s := range suites {
		text, err := json.Marshal(s)
		if err != nil || string(text) != `"`+s.String()+`"` {
			t.Errorf("%v as %s, %v", s, text, err)
		}
		var got srtp.Suite
		if err := json.Unmarshal(text, &got); err != nil || got != s {
			t.Errorf("%s is %v, %v", text, got, err)
		}
	}
	var s srtp.Suite
	if err := json.Unmarshal([]byte(`"F8_128_HMAC_SHA1_80"`), &s); err == nil {
		t.Error("another suite was taken")
	}
}
