//go:build cgo

package opus_test

import (
	"encoding/binary"
	"os"
	"testing"

	"parley/media"
	"parley/media/mediatest"
	"parley/media/opus"
)

func encoder(t testing.TB, cfg opus.EncoderConfig) *opus.Encoder {
	t.Helper()
	e, err := opus.NewEncoder(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// encoded is a tone as packets.
func encoded(t testing.TB, cfg opus.EncoderConfig, freq float64, frames int) (list [][]byte) {
	t.Helper()
	e, size := encoder(t, cfg), cfg.Rate.FrameSamples()
	tone := mediatest.Tone(freq, cfg.Rate, frames*size, 0.3)
	for ; len(tone) > 0; tone = tone[size:] {
		b := make([]byte, opus.MaxPacket)
		n, err := e.Encode(b, tone[:size])
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, b[:n])
	}
	return list
}

// TestTonePackets: the packets that both builds decode are those of this encoder's kind;
// PARLEY_GOLDEN=update makes them again.
func TestTonePackets(t *testing.T) {
	if os.Getenv("PARLEY_GOLDEN") != "update" {
		t.Skip("PARLEY_GOLDEN=update makes testdata/tone500.packets")
	}
	var b []byte
	for _, p := range encoded(t, opus.EncoderConfig{Rate: media.Rate48k, Complexity: 9}, 500, 50) {
		b = append(binary.BigEndian.AppendUint16(b, uint16(len(p))), p...)
	}
	if err := os.WriteFile("testdata/tone500.packets", b, 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestEncodes(t *testing.T) {
	for _, rate := range []media.Rate{media.Rate16k, media.Rate24k, media.Rate48k} {
		for _, loss := range []int{0, 10} {
			cfg := opus.EncoderConfig{Rate: rate, Complexity: 5, Loss: loss}
			d := decoder(t, media.Rate16k)
			var all []int16
			bytes := 0
			for _, p := range encoded(t, cfg, 700, 100) {
				frame := make([]int16, media.Rate16k.FrameSamples())
				d.Decode(frame, p)
				all = append(all, frame...)
				bytes += len(p)
			}
			if snr := mediatest.SNR(all[3200:], media.Rate16k, 700); snr < 20 {
				t.Errorf("%v, loss %d: SNR %.1f dB", rate, loss, snr)
			}
			if kbit := bytes * 8 / 2000; kbit > 48 {
				t.Errorf("%v, loss %d: %d kbit/s", rate, loss, kbit)
			}
		}
	}
}

// TestSearchesOnlyWhenPacketsAreLost: SILK, whose search takes five times as long as all of
// CELT, is what has copies, so it is used where the far end loses packets and nowhere else.
func TestSearchesOnlyWhenPacketsAreLost(t *testing.T) {
	const rate = media.Rate24k
	e := encoder(t, opus.EncoderConfig{Rate: rate, Complexity: 4})
	tone, b := mediatest.Tone(300, rate, rate.FrameSamples(), 0.3), make([]byte, opus.MaxPacket)
	for _, c := range []struct {
		loss int
		silk bool
	}{{0, false}, {1, true}, {20, true}, {0, false}} {
		if err := e.ExpectLoss(c.loss); err != nil {
			t.Fatal(err)
		}
		for range 10 { // a change takes some packets
			if _, err := e.Encode(b, tone); err != nil {
				t.Fatal(err)
			}
		}
		if celt := b[0]>>3 >= 16; celt == c.silk { // RFC 6716 table 2
			t.Errorf("%d %% of packets are lost, configuration %d", c.loss, b[0]>>3)
		}
	}
}

// TestRecovers: what was lost is in the packet after it, when the encoder expects losses.
func TestRecovers(t *testing.T) {
	const rate = media.Rate16k
	speech := make([]int16, rate.FrameSamples())
	heard := func(loss int) (level float64) {
		// A burst of tone in one frame only: nobody can guess it from what came before.
		e, d := encoder(t, opus.EncoderConfig{Rate: rate, Complexity: 5, Loss: loss, Bitrate: 24000}), decoder(t, rate)
		silence, tone := make([]int16, len(speech)), mediatest.Tone(600, rate, len(speech), 0.4)
		var packets [][]byte
		for i := range 24 {
			samples := silence
			if i == 20 || i == 21 {
				samples = tone
			}
			b := make([]byte, opus.MaxPacket)
			n, err := e.Encode(b, samples)
			if err != nil {
				t.Fatal(err)
			}
			packets = append(packets, b[:n])
		}
		for _, p := range packets[:20] {
			d.Decode(speech, p)
		}
		d.Recover(speech, packets[21]) // 20 is lost
		return mediatest.Level(speech)
	}
	with, without := heard(20), heard(0)
	if with < -30 || without > with-10 {
		t.Errorf("the lost frame has %.1f dBFS with a copy, %.1f without", with, without)
	}
}

func TestDecodingDoesNotAllocate(t *testing.T) {
	d, packets, n := decoder(t, media.Rate16k), tonePackets(t), 0
	frame := make([]int16, media.Rate16k.FrameSamples())
	mediatest.NoAllocs(t, func() {
		n++
		d.Decode(frame, packets[n%len(packets)])
		if n%10 == 0 {
			d.Recover(frame, packets[n%len(packets)])
			d.Conceal(frame)
		}
	})
}

func TestEncodingDoesNotAllocate(t *testing.T) {
	e := encoder(t, opus.EncoderConfig{Rate: media.Rate48k, Complexity: 5, Loss: 10})
	tone, b, n := mediatest.Tone(440, media.Rate48k, 960, 0.3), make([]byte, opus.MaxPacket), 0
	mediatest.NoAllocs(t, func() {
		n++
		if err := e.ExpectLoss(5 + n%2); err != nil {
			t.Error(err)
		}
		if _, err := e.Encode(b, tone); err != nil {
			t.Error(err)
		}
	})
}

func BenchmarkEncode(b *testing.B) {
	for _, bb := range []struct {
		name string
		cfg  opus.EncoderConfig
	}{
		{"48k", opus.EncoderConfig{Rate: media.Rate48k, Complexity: 5}},
		{"48k fec", opus.EncoderConfig{Rate: media.Rate48k, Complexity: 5, Loss: 10}},
		{"48k cheap", opus.EncoderConfig{Rate: media.Rate48k, Complexity: 0}},
		{"24k", opus.EncoderConfig{Rate: media.Rate24k, Complexity: 5}},
		{"16k", opus.EncoderConfig{Rate: media.Rate16k, Complexity: 5}},
	} {
		b.Run(bb.name, func(b *testing.B) {
			e := encoder(b, bb.cfg)
			size := bb.cfg.Rate.FrameSamples()
			tone, out, n := mediatest.Tone(440, bb.cfg.Rate, 50*size, 0.3), make([]byte, opus.MaxPacket), 0
			b.ReportAllocs()
			for b.Loop() {
				n = (n + 1) % 50
				if _, err := e.Encode(out, tone[n*size:][:size]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
