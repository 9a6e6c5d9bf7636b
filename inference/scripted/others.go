package scripted

import "strings"

// otherLines are the sentences of the languages without a table: enough to greet, to ask
// for what a rule needs, and to say that something was not understood. They stand in the
// order of ownLines.
var otherLines = map[string]string{
	"ca": `Hola! En què us puc ajudar?|Gràcies per trucar. Adéu!|Perdoneu, no us he entès. Ho podeu dir d'una altra manera?|Em podeu dir {slot}?|` +
		`Un moment, si us plau, encara ho estic mirant.|Ho sento, no ha funcionat.|Fet.|Ho sento, ara no ho puc fer.`,
	"gl": `Ola! En que o podo axudar?|Grazas por chamar. Adeus!|Perdoe, non o entendín. Pode dicilo doutro xeito?|Pode dicirme {slot}?|` +
		`Un momento, por favor, aínda o estou mirando.|Síntoo, non funcionou.|Feito.|Síntoo, agora non o podo facer.`,
	"eu": `Kaixo! Zertan lagun dezaket?|Eskerrik asko deitzeagatik. Agur!|Barkatu, ez dut ulertu. Beste modu batera esan dezakezu?|Esan dezakezu {slot}?|` +
		`Une bat, mesedez, oraindik begiratzen ari naiz.|Sentitzen dut, ez du funtzionatu.|Eginda.|Sentitzen dut, orain ezin dut hori egin.`,
	"pt": `Olá! Em que posso ajudar?|Obrigado pela chamada. Adeus!|Desculpe, não percebi. Pode dizer de outra maneira?|Pode dizer-me {slot}?|` +
		`Um momento, por favor, ainda estou a ver.|Lamento, não funcionou.|Feito.|Lamento, agora não posso fazer isso.`,
	"fr": `Bonjour ! Comment puis-je vous aider ?|Merci de votre appel. Au revoir !|Pardon, je n'ai pas compris. Pouvez-vous le dire autrement ?|Pouvez-vous me donner {slot} ?|` +
		`Un instant, s'il vous plaît, je regarde encore.|Désolé, cela n'a pas fonctionné.|C'est fait.|Désolé, je ne peux pas le faire maintenant.`,
	"it": `Buongiorno! Come posso aiutarla?|Grazie per la chiamata. Arrivederci!|Mi scusi, non ho capito. Può dirlo in un altro modo?|Può dirmi {slot}?|` +
		`Un attimo, per favore, sto ancora guardando.|Mi dispiace, non ha funzionato.|Fatto.|Mi dispiace, adesso non posso farlo.`,
	"de": `Guten Tag! Wie kann ich Ihnen helfen?|Vielen Dank für Ihren Anruf. Auf Wiederhören!|Entschuldigung, das habe ich nicht verstanden. Können Sie es anders sagen?|Können Sie mir {slot} nennen?|` +
		`Einen Moment bitte, ich sehe noch nach.|Es tut mir leid, das hat nicht geklappt.|Erledigt.|Es tut mir leid, das kann ich im Moment nicht tun.`,
}

// ownLines are the sentences of a row.
func ownLines(row string) lines {
	f := strings.Split(row, "|")
	return lines{hello: f[0], goodbye: f[1], fallback: f[2], ask: map[string]string{kindText: f[3]}, moment: f[4], failed: f[5], done: f[6], cannot: f[7]}
}
