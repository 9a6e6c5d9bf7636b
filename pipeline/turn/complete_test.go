package turn

import "testing"

func TestComplete(t *testing.T) {
	for _, c := range []struct {
		language, text string
		least, most    float64
	}{
		{"en", "", 0.75, 1},
		{"en", "I'd like to book a table", 0.75, 1},
		{"en", "I'd like to book a", 0, 0.3},
		{"en", "I'd like to book AND", 0, 0.3},
		{"en", "I'd like to, um", 0.3, 0.5},
		{"en", "on Friday,", 0.3, 0.5},
		{"en", "on Friday…", 0.3, 0.5},
		{"en", "I would, well", 0.3, 0.5},
		{"en", "is it for?", 0.75, 1},
		{"es", "quiero una mesa para", 0, 0.3},
		{"es", "quiero una mesa", 0.75, 1},
		{"pt", "eu queria uma", 0, 0.3},
		{"fr", "je voudrais une table avec", 0, 0.3},
		{"fr", "je voudrais, euh", 0.3, 0.5},
		{"it", "vorrei prenotare per", 0, 0.3},
		{"de", "ich möchte einen Tisch für", 0, 0.3},
		{"de", "ich möchte einen Tisch", 0.75, 1},
		{"ca", "and", 0, 0.3}, // as English

		// What seldom has more after it.
		{"en", "thank you", 0.9, 1},
		{"en", "that will be all thanks", 0.9, 1},
		{"en", "when does the museum open", 0.9, 1},
		{"en", "we live near the river", 0.9, 1},
		{"en", "I lost my ticket yesterday", 0.9, 1},
		{"en", "no. Is it far?", 0.9, 1},
		{"en", "yes", 0.9, 1},
		{"de", "äh ja", 0.9, 1},
		{"de", "darf ich einen Hund mitbringen", 0.9, 1},
		{"es", "hola tienen plazas de aparcamiento", 0.9, 1},
		{"fr", "vous avez un parking", 0.9, 1},
		{"it", "avete ancora posti liberi", 0.9, 1},
		{"pt", "vocês têm ainda vagas livres", 0.9, 1},

		// What may be all.
		{"en", "the dog bit me", 0.75, 0.89},
		{"en", "Can you hear me? The dog bit me.", 0.75, 0.89},
		{"de", "der Hund hat mich gebissen", 0.75, 0.89},
		{"es", "el perro me ha mordido", 0.75, 0.89},
		{"fr", "le chien m'a mordu", 0.75, 0.89},
		{"it", "il cane mi ha morso", 0.75, 0.89},
		{"pt", "o cachorro me mordeu", 0.75, 0.89},

		// What seldom is all.
		{"en", "how long does it", 0.3, 0.5},
		{"en", "so the doctor told me what", 0.3, 0.5},
		{"en", "please show me", 0.3, 0.5},
		{"en", "when the dog bit me", 0.3, 0.5},
		{"en", "hello when the dog bit me", 0.3, 0.5},
		{"en", "when the dog bit me I ran away", 0.75, 1},
		{"en", "it was what", 0.3, 0.5},
		{"de", "wie lange darf ich", 0.3, 0.5},
		{"de", "als der Hund mich biss", 0.3, 0.5},
		{"es", "desde que me mordió", 0.3, 0.5},
		{"fr", "lorsque le chien m'a mordu", 0.3, 0.5},
		{"it", "da quando mi ha morso", 0.3, 0.5},
		{"pt", "assim que ele me mordeu", 0.3, 0.5},
	} {
		if p := Complete(c.language, c.text); p < c.least || p > c.most {
			t.Errorf("%s %q: %v, want %v to %v", c.language, c.text, p, c.least, c.most)
		}
	}
}
