package espeak

import "parley/inference"

// voice is one of the ten: a variant of espeak-ng's formant voice, moved in
// pitch and levelled, so that each pair differs to the ear and to measurement
// (the test of voices holds the distances).
type voice struct {
	inference.Voice
	variant string
	pitch   int     // espeak-ng's 0 to 100; 50 is the variant's own
	spread  int     // range of intonation, likewise
	gain    float32 // brings speech to -21.7 dBFS, measured over the nine languages
}

var voices = []voice{
	{inference.Voice{ID: "F1", Gender: "female", Description: "Warm, the lowest of the five"}, "f4", 35, 40, 0.79},
	{inference.Voice{ID: "F2", Gender: "female", Description: "Bright and light"}, "f2", 66, 60, 0.68},
	{inference.Voice{ID: "F3", Gender: "female", Description: "Calm and low"}, "f5", 39, 35, 0.97},
	{inference.Voice{ID: "F4", Gender: "female", Description: "Professional and clear"}, "belinda", 38, 50, 0.69},
	{inference.Voice{ID: "F5", Gender: "female", Description: "Natural and high"}, "Annie", 60, 55, 0.81},
	{inference.Voice{ID: "M1", Gender: "male", Description: "Deep and even"}, "m8", 48, 35, 1.49},
	{inference.Voice{ID: "M2", Gender: "male", Description: "Clear and plain"}, "m1", 50, 45, 1.00},
	{inference.Voice{ID: "M3", Gender: "male", Description: "Young and high"}, "m3", 78, 60, 0.79},
	{inference.Voice{ID: "M4", Gender: "male", Description: "Warm and dark"}, "m7", 53, 45, 0.75},
	{inference.Voice{ID: "M5", Gender: "male", Description: "Dynamic, with a wide intonation"}, "Mario", 58, 80, 0.73},
}

// language is what a language is spoken with.
type language struct {
	code   string // two letters
	native string // espeak-ng's name
	spell  func([]rune) spelling
}

var languages = []language{
	{"en", "en-us", asWritten},
	{"es", "es", asWritten},
	{"ca", "ca", asWritten},
	{"gl", "es", galician},
	{"eu", "eu", asWritten},
	{"pt", "pt", asWritten},
	{"fr", "fr", asWritten},
	{"it", "it", asWritten},
	{"de", "de", asWritten},
}
