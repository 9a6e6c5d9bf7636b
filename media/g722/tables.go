package g722

// levelsLow are the decision levels of the lower band's quantizer, in units of its step / 4096
// (table 14, Q6).
var levelsLow = [29]int32{
	35, 72, 110, 150, 190, 233, 276, 323, 370, 422, 473, 530, 587, 650, 714,
	786, 858, 940, 1023, 1121, 1219, 1339, 1458, 1612, 1765, 1980, 2195, 2557, 2919,
}

// intervals hold, for the least that a level must be to lie above a difference, how many levels lie below it.
var intervals = func() (t [2921]uint8) {
	at := 0
	for least := range t {
		for at < len(levelsLow) && levelsLow[at] < int32(least) {
			at++
		}
		t[least] = uint8(at)
	}
	return t
}()

// levelHigh is that of the upper band (Q2).
const levelHigh = 564

// valuesLow are the values of the codes of 6 bits (QM6), in units of the step / 32768. The first four
// codes are none, and come only with transmission errors.
var valuesLow = [64]int32{
	-136, -136, -136, -136, -24808, -21904, -19008, -16704, -14984, -13512, -12280, -11192, -10232, -9360, -8576, -7856,
	-7192, -6576, -6000, -5456, -4944, -4464, -4008, -3576, -3168, -2776, -2400, -2032, -1688, -1360, -1040, -728,
	24808, 21904, 19008, 16704, 14984, 13512, 12280, 11192, 10232, 9360, 8576, 7856, 7192, 6576, 6000, 5456,
	4944, 4464, 4008, 3576, 3168, 2776, 2400, 2032, 1688, 1360, 1040, 728, 432, 136, -432, -136,
}

// valuesCoarse are those of their upper 4 bits (QM4).
var valuesCoarse = [16]int32{
	0, -20456, -12896, -8968, -6288, -4240, -2584, -1200, 20456, 12896, 8968, 6288, 4240, 2584, 1200, 0,
}

// valuesHigh are those of the upper band's codes (QM2).
var valuesHigh = [4]int32{-7408, -1616, 7408, 1616}

// scalesLow is what the logarithmic step changes by after a code, by its upper 4 bits (WL, through
// RIL4), scalesHigh after one of the upper band (WH).
var (
	scalesLow = [16]int32{
		-60, 3042, 1198, 538, 334, 172, 58, -30, 3042, 1198, 538, 334, 172, 58, -30, -60,
	}
	scalesHigh = [4]int32{798, -214, 798, -214}
)

// powers are the powers of two from 2048 in steps of 1/32, cut to whole numbers (ILB).
var powers = [32]int32{
	2048, 2093, 2139, 2186, 2233, 2282, 2332, 2383, 2435, 2489, 2543, 2599, 2656, 2714, 2774, 2834,
	2896, 2960, 3025, 3091, 3158, 3228, 3298, 3371, 3444, 3520, 3597, 3676, 3756, 3838, 3922, 4008,
}
