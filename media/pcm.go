package media

import "encoding/binary"

// AppendPCM appends samples to dst as bytes: 16 bits each, little-endian.
func AppendPCM(dst []byte, samples []int16) []byte {
	for _, s := range samples {
		dst = binary.LittleEndian.AppendUint16(dst, uint16(s))
	}
	return dst
}

// AppendSamples appends to dst the samples that AppendPCM wrote; an odd last byte is left out.
func AppendSamples(dst []int16, pcm []byte) []int16 {
	for ; len(pcm) >= 2; pcm = pcm[2:] {
		dst = append(dst, int16(binary.LittleEndian.Uint16(pcm)))
	}
	return dst
}
