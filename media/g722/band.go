package g722

// band is the state of one sub-band, the same at both ends (clauses 3.5 and 3.6): a predictor of two
// poles and six zeros, and the step of the quantizer. Values are those of the Recommendation's 16-bit
// arithmetic, in wider integers. Its zero value is that of the start.
type band struct {
	predicted int32 // S: the next sample, of which the quantizer codes the rest
	zeros     int32 // SZ: the zeros' part of it

	poles   [2]int32 // A1, A2
	weights [6]int32 // B1 to B6
	rebuilt [2]int32 // R1, R2 twice, the last ones first
	partial [2]int32 // P1, P2
	diffs   [6]int32 // D1 to D6 twice

	scale int32 // NB: the step in a logarithmic measure
}

// Bounds of the logarithmic step, and what its table is shifted by (blocks LOGSCL, SCALEL and
// LOGSCH, SCALEH).
const (
	maxScaleLow  = 18432
	maxScaleHigh = 22528
	shiftLow     = 8
	shiftHigh    = 10
)

// quantizeLow codes a sample of the lower band in 6 bits (block QUANTL), and follows it.
func (b *band) quantizeLow(x int32) byte {
	step := b.step(shiftLow)
	e := saturate(x - b.predicted)
	size := e
	if e < 0 {
		size = -e - 1
	}
	// An interval ends below its level, in units of step / 4096. Division finds what a level must be.
	least := ((size+1)<<12 + step - 1) / step
	code := codeLow(int(intervals[min(least, int32(len(intervals)-1))]), e < 0)
	b.followLow(code, step)
	return code
}

// codeLow is the code of an interval from 0 to 29: towards the middle codes of positive
// differences fall from 61, those of negative ones from 63, 62, and 31 on.
func codeLow(interval int, negative bool) byte {
	switch {
	case !negative:
		return byte(61 - interval)
	case interval < 2:
		return byte(63 - interval)
	}
	return byte(33 - interval)
}

// decodeLow gives the sample of a code of the lower band (blocks INVQBL, LIMIT).
func (b *band) decodeLow(code byte) int32 {
	step := b.step(shiftLow)
	x := limit(saturate(b.predicted + step*valuesLow[code]>>15))
	b.followLow(code, step)
	return x
}

// followLow adapts to a code. Of its bits the lowest two do not count, so that a channel may use
// them for data (block INVQAL).
func (b *band) followLow(code byte, step int32) {
	coarse := code >> 2
	b.adapt(step * valuesCoarse[coarse] >> 15)
	b.rescale(scalesLow[coarse], maxScaleLow)
}

// quantizeHigh codes a sample of the upper band in 2 bits (block QUANTH), and follows it.
func (b *band) quantizeHigh(x int32) byte {
	step := b.step(shiftHigh)
	e := saturate(x - b.predicted)
	code, size := byte(2), e
	if e < 0 {
		code, size = 0, -e-1
	}
	if size < levelHigh*step>>12 {
		code++
	}
	b.followHigh(code, step)
	return code
}

// decodeHigh gives the sample of a code of the upper band (block INVQAH, LIMIT).
func (b *band) decodeHigh(code byte) int32 {
	step := b.step(shiftHigh)
	x := limit(saturate(b.predicted + step*valuesHigh[code]>>15))
	b.followHigh(code, step)
	return x
}

func (b *band) followHigh(code byte, step int32) {
	b.adapt(step * valuesHigh[code] >> 15)
	b.rescale(scalesHigh[code], maxScaleHigh)
}

// step is the quantizer's (DET), of the logarithmic one (blocks SCALEL, SCALEH).
func (b *band) step(shift int32) int32 {
	mantissa, shift := powers[b.scale>>6&31], shift-b.scale>>11
	if shift < 0 {
		return mantissa << -shift << 2
	}
	return mantissa >> shift << 2
}

// rescale makes the step larger after a large difference, else smaller (blocks LOGSCL, LOGSCH).
func (b *band) rescale(by, most int32) {
	b.scale = min(max(b.scale*127>>7+by, 0), most)
}

// adapt takes the quantized difference to the prediction and predicts the next sample (block 4).
func (b *band) adapt(d int32) {
	r := saturate(b.predicted + d) // RECONS
	p := saturate(b.zeros + d)     // PARREC
	b.poles[0], b.poles[1] = b.nextPoles(p)
	b.partial[1], b.partial[0] = b.partial[0], p
	b.rebuilt[1], b.rebuilt[0] = b.rebuilt[0], saturate(2*r)
	poles := saturate(b.poles[0]*b.rebuilt[0]>>15 + b.poles[1]*b.rebuilt[1]>>15) // FILTEP
	b.zeros = b.nextZeros(d)
	b.predicted = saturate(poles + b.zeros) // PREDIC
}

// nextPoles adapts the pole section by the signs of the last partial reconstructions, and keeps
// it stable (blocks UPPOL2, UPPOL1).
func (b *band) nextPoles(p int32) (a1, a2 int32) {
	same1, same2 := p>>31 == b.partial[0]>>31, p>>31 == b.partial[1]>>31
	toward := saturate(4 * b.poles[0])
	if same1 {
		toward = min(-toward, 32767)
	}
	leak := int32(-128)
	if same2 {
		leak = 128
	}
	a2 = min(max(toward>>7+leak+b.poles[1]*32512>>15, -12288), 12288)
	push := int32(-192)
	if same1 {
		push = 192
	}
	most := 15360 - a2
	return min(max(push+b.poles[0]*32640>>15, -most), most), a2
}

// nextZeros adapts the zero section by the signs of the last differences (block UPZERO), takes d as the
// latest of them, and gives the section's part of the prediction (FILTEZ).
func (b *band) nextZeros(d int32) (sum int32) {
	by, twice := int32(128), saturate(2*d)
	if d == 0 {
		by = 0
	}
	for i := len(b.weights) - 1; i >= 0; i-- {
		opposite := (b.diffs[i] ^ d) >> 31 // 0, or -1 where the signs differ
		w := saturate((by ^ opposite - opposite) + b.weights[i]*32640>>15)
		b.weights[i] = w
		next := twice
		if i > 0 {
			next = b.diffs[i-1]
		}
		b.diffs[i] = next
		sum = saturate(sum + w*next>>15)
	}
	return sum
}

// saturate bounds a value to 16 bits.
func saturate(v int32) int32 { return min(max(v, -32768), 32767) }

// limit bounds the output of a band to 15 bits.
func limit(v int32) int32 { return min(max(v, -16384), 16383) }
