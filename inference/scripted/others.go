package scripted

// otherLines are the sentences of the languages without a table: enough to greet, to ask
// for what a rule needs, and to say that something was not understood.
var otherLines = map[string]lines{
	"ca": {
		hello: "Hola! En què us puc ajudar?", goodbye: "Gràcies per trucar. Adéu!",
		fallback: []string{"Perdoneu, no us he entès. Ho podeu dir d'una altra manera?"},
		ask:      map[string]string{kindText: "Em podeu dir {slot}?"},
		moment:   "Un moment, si us plau, encara ho estic mirant.", failed: "Ho sento, no ha funcionat.",
		done: "Fet.", cannot: "Ho sento, ara no ho puc fer.",
	},
	"gl": {
		hello: "Ola! En que o podo axudar?", goodbye: "Grazas por chamar. Adeus!",
		fallback: []string{"Perdoe, non o entendín. Pode dicilo doutro xeito?"},
		ask:      map[string]string{kindText: "Pode dicirme {slot}?"},
		moment:   "Un momento, por favor, aínda o estou mirando.", failed: "Síntoo, non funcionou.",
		done: "Feito.", cannot: "Síntoo, agora non o podo facer.",
	},
	"eu": {
		hello: "Kaixo! Zertan lagun dezaket?", goodbye: "Eskerrik asko deitzeagatik. Agur!",
		fallback: []string{"Barkatu, ez dut ulertu. Beste modu batera esan dezakezu?"},
		ask:      map[string]string{kindText: "Esan dezakezu {slot}?"},
		moment:   "Une bat, mesedez, oraindik begiratzen ari naiz.", failed: "Sentitzen dut, ez du funtzionatu.",
		done: "Eginda.", cannot: "Sentitzen dut, orain ezin dut hori egin.",
	},
	"pt": {
		hello: "Olá! Em que posso ajudar?", goodbye: "Obrigado pela chamada. Adeus!",
		fallback: []string{"Desculpe, não percebi. Pode dizer de outra maneira?"},
		ask:      map[string]string{kindText: "Pode dizer-me {slot}?"},
		moment:   "Um momento, por favor, ainda estou a ver.", failed: "Lamento, não funcionou.",
		done: "Feito.", cannot: "Lamento, agora não posso fazer isso.",
	},
	"fr": {
		hello: "Bonjour ! Comment puis-je vous aider ?", goodbye: "Merci de votre appel. Au revoir !",
		fallback: []string{"Pardon, je n'ai pas compris. Pouvez-vous le dire autrement ?"},
		ask:      map[string]string{kindText: "Pouvez-vous me donner {slot} ?"},
		moment:   "Un instant, s'il vous plaît, je regarde encore.", failed: "Désolé, cela n'a pas fonctionné.",
		done: "C'est fait.", cannot: "Désolé, je ne peux pas le faire maintenant.",
	},
	"it": {
		hello: "Buongiorno! Come posso aiutarla?", goodbye: "Grazie per la chiamata. Arrivederci!",
		fallback: []string{"Mi scusi, non ho capito. Può dirlo in un altro modo?"},
		ask:      map[string]string{kindText: "Può dirmi {slot}?"},
		moment:   "Un attimo, per favore, sto ancora guardando.", failed: "Mi dispiace, non ha funzionato.",
		done: "Fatto.", cannot: "Mi dispiace, adesso non posso farlo.",
	},
	"de": {
		hello: "Guten Tag! Wie kann ich Ihnen helfen?", goodbye: "Vielen Dank für Ihren Anruf. Auf Wiederhören!",
		fallback: []string{"Entschuldigung, das habe ich nicht verstanden. Können Sie es anders sagen?"},
		ask:      map[string]string{kindText: "Können Sie mir {slot} nennen?"},
		moment:   "Einen Moment bitte, ich sehe noch nach.", failed: "Es tut mir leid, das hat nicht geklappt.",
		done: "Erledigt.", cannot: "Es tut mir leid, das kann ich im Moment nicht tun.",
	},
}
