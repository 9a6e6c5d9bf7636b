package transcode

import (
	"bytes"
	"encoding/binary"
)

// Sniff tells what a file is by its first bytes, of which 4 KiB suffice, or returns ""
// when it is nothing that is known here. What a name or a header of the request says does not count.
func Sniff(head []byte) Format {
	tagged := bytes.HasPrefix(head, []byte("ID3"))
	if tagged {
		head = head[min(len(head), id3Length(head)):]
	}
	switch {
	case len(head) >= 12 && string(head[:4]) == "RIFF" && string(head[8:12]) == "WAVE":
		return WAV
	case bytes.HasPrefix(head, []byte("OggS")):
		return Ogg
	case bytes.HasPrefix(head, []byte("\x1A\x45\xDF\xA3")): // EBML (RFC 8794)
		return WebM
	case len(head) >= 12 && string(head[4:8]) == "ftyp": // ISO/IEC 14496-12
		return MP4
	case bytes.HasPrefix(head, []byte("fLaC")): // RFC 9639
		return FLAC
	case frames(head, adtsLength):
		return AAC
	case tagged, frames(head, mpegLength):
		return MP3
	}
	return ""
}

// id3Length is the length of the tag that head begins with (ID3v2.4.0, 3.1): most
// of them precede MP3, but not all.
func id3Length(head []byte) int {
	if len(head) < 10 {
		return len(head)
	}
	n := 0
	for _, b := range head[6:10] {
		n = n<<7 | int(b&0x7F)
	}
	return 10 + n
}

// frames says whether head begins with a whole frame whose length is given by
// length, and more follow as far as head reaches. One header alone is not enough:
// eleven bits are soon found in any samples.
func frames(head []byte, length func([]byte) int) bool {
	for i := range 4 {
		n := length(head)
		if n == 0 || i == 0 && n > len(head) {
			return false
		}
		if len(head) < n+frameHeader {
			break
		}
		head = head[n:]
	}
	return true
}

// frameHeader is what the length functions look at.
const frameHeader = 6

// bitRates of layer III in kbit/s: MPEG-1, then MPEG-2 and 2.5 (ISO/IEC 13818-3).
var bitRates = [2][15]int{
	{0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320},
	{0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160},
}

// mpegRates are sample rates of MPEG-1; MPEG-2 has half of them, 2.5 a quarter.
var mpegRates = [3]int{44100, 48000, 32000}

// mpegLength is the length of the layer III frame that b begins with, 0 for
// anything else (ISO/IEC 11172-3, 2.4.1.3).
func mpegLength(b []byte) int {
	if len(b) < frameHeader {
		return 0
	}
	h := binary.BigEndian.Uint32(b)
	version, layer := h>>19&3, h>>17&3
	bitRate, rate, padding := h>>12&15, h>>10&3, int(h>>9&1)
	if h>>21 != 0x7FF || version == 1 || layer != 1 || bitRate == 0 || bitRate == 15 || rate == 3 {
		return 0
	}
	if version == 3 {
		return 144_000*bitRates[0][bitRate]/mpegRates[rate] + padding
	}
	hz := mpegRates[rate] / 2
	if version == 0 {
		hz /= 2
	}
	return 72_000*bitRates[1][bitRate]/hz + padding
}

// adtsLength is the length of the ADTS frame that b begins with, 0 for anything
// else (ISO/IEC 13818-7, 6.2).
func adtsLength(b []byte) int {
	if len(b) < frameHeader || b[0] != 0xFF || b[1]&0xF6 != 0xF0 || b[2]>>2&15 > 12 {
		return 0
	}
	n := int(b[3]&3)<<11 | int(b[4])<<3 | int(b[5])>>5
	if n < 7 {
		return 0
	}
	return n
}
