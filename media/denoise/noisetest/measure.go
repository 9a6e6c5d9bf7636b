package noisetest

import "math"

// blockPowers is the mean square of each whole block of n samples.
func blockPowers(x []float64, n int) []float64 {
	p := make([]float64, len(x)/n)
	for i := range p {
		for _, v := range x[i*n : (i+1)*n] {
			p[i] += v * v
		}
		p[i] /= float64(n)
	}
	return p
}

// DB is a mean square of 16-bit samples in dBFS.
func DB(power float64) float64 { return 10 * math.Log10(power/(32768*32768)+1e-20) }

// Active marks the 20 ms blocks of clean speech that lie within 30 dB of the loudest.
func Active(clean []float64, rate int) []bool {
	p := blockPowers(clean, rate/50)
	top := 0.0
	for _, v := range p {
		top = max(top, v)
	}
	active := make([]bool, len(p))
	for i, v := range p {
		active[i] = v > top*1e-3
	}
	return active
}

// ActiveLevel is the level of clean speech without its pauses, in dBFS.
func ActiveLevel(clean []float64, rate int) float64 {
	return LevelWhere(clean, Active(clean, rate), true, rate)
}

// LevelWhere is the level of x over the 20 ms blocks where active is want, in dBFS.
func LevelWhere(x []float64, active []bool, want bool, rate int) float64 {
	sum, n := 0.0, 0
	for i, v := range blockPowers(x, rate/50) {
		if active[i] == want {
			sum += v
			n++
		}
	}
	return DB(sum / float64(max(n, 1)))
}

// SegSNR is the segmental signal-to-noise ratio of x against clean in dB: the mean
// over the active 20 ms blocks of their ratios, each limited to -10..35 dB.
func SegSNR(clean, x []float64, rate int) float64 {
	block := rate / 50
	sum, n := 0.0, 0
	for i, on := range Active(clean, rate) {
		if !on {
			continue
		}
		var s, e float64
		for j := i * block; j < (i+1)*block; j++ {
			d := x[j] - clean[j]
			s += clean[j] * clean[j]
			e += d * d
		}
		sum += max(-10, min(35, 10*math.Log10(s/(e+1e-9))))
		n++
	}
	return sum / float64(max(n, 1))
}
