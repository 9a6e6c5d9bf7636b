package wire

// Voices and languages as agents and synthesis take them. Nobody changes the lists.
var (
	Voices    = []string{"F1", "F2", "F3", "F4", "F5", "M1", "M2", "M3", "M4", "M5"}
	Languages = []string{"en", "es", "ca", "gl", "eu", "pt", "fr", "it", "de"}
)
