package scripted

var german = data{
	code: "de",
	stop: `der die das den dem des ein eine einen einem einer eines und oder aber in im an am auf aus bei mit nach von vom zu zum zur für um
		ich du er sie es wir ihr mich mir dich dir ihn ihm uns euch ihnen mein meine meinen dein deine sein seine unser unsere ihre ihren ihrer
		ist sind bin bist sein war hat haben habe hast gibt geht kann kannst konnen konnte konnten mochte mochten will wollen wurde wurden soll muss
		nicht kein keine ja nein auch noch nur schon so sehr mal bitte denn dann da hier was wie welche welcher welches wer ob dass
		gern gerne brauche hatte sagen sag etwas ok ah ahm also gut erlaubt akzeptieren nehmen bieten verkaufen moglich frage auskunft bringen kommen`,
	concepts: map[string]string{
		"hours":   "offen geoffnet offnet offnen aufmachen offnungszeit offnungszeiten uhrzeit zeit zeiten schliessen schliesst geschlossen wann bis spat fruh",
		"price":   "preis preise kostet kosten viel teuer billig gunstig euro gratis kostenlos gebuhr €",
		"where":   "wo adresse liegt gelegen strasse platz allee finden finde hinkommen komme ort nahe",
		"book":    "buchen buchung reservieren reserviere reservierung reservierungen tisch tische termin termine",
		"food":    "essen speisekarte gericht gerichte abendessen mittagessen fruhstuck vegetarisch vegetarische vegetarischen vegan kuche servieren",
		"deliver": "liefern lieferung lieferungen liefert lieferdienst versand mitnehmen abholen",
		"pay":     "zahlen bezahlen zahlung karte kreditkarte ec bar bargeld kartenzahlung",
		"park":    "parken parkplatz parkplatze auto autos garage parkhaus",
		"contact": "telefon telefonnummer email mail kontakt erreichen webseite",
	},
	labels: map[string]string{
		"hours": "unsere Öffnungszeiten", "price": "die Preise", "where": "unsere Adresse", "book": "Reservierungen", "food": "die Speisekarte",
		"deliver": "Lieferungen", "pay": "die Bezahlung", "park": "Parkplätze", "contact": "unsere Kontaktdaten",
	},
	talk: map[string]talk{
		greet:     {"hallo|guten tag|guten morgen|guten abend|grüß gott|servus|moin", "Guten Tag! Wie kann ich Ihnen helfen?"},
		bye:       {"auf wiedersehen|auf wiederhören|tschüss|danke tschüss|vielen dank auf wiederhören|das ist alles|das war alles danke|sonst nichts danke|bis bald|schönen tag noch|bis morgen|ich muss auflegen", "Vielen Dank für Ihren Anruf. Auf Wiederhören!"},
		thanks:    {"danke|vielen dank|danke schön|danke sehr|perfekt danke|perfekt|super|wunderbar", "Gern geschehen. Kann ich noch etwas für Sie tun?"},
		wellbeing: {"wie geht es ihnen|wie geht's|wie geht es dir", "Sehr gut, danke. Wie kann ich Ihnen helfen?"},
		who:       {"wer sind sie|wer bist du|wie heißen sie|wie heißt du|mit wem spreche ich|sind sie ein roboter|bist du ein roboter|ist das eine maschine|sind sie ein mensch|ist das eine aufnahme", "Ich bin ein automatischer Assistent, der Regeln folgt."},
		human:     {"ich möchte mit einem menschen sprechen|kann ich mit jemandem sprechen|mit einem mitarbeiter sprechen|verbinden sie mich|ich will den chef sprechen", "Es tut mir leid, ich kann Sie nicht verbinden. Kann ich Ihnen helfen?"},
		help:      {"können sie mir helfen|hilfe|was können sie|ich brauche hilfe|was kann ich fragen|ich habe eine frage|ich hätte gern eine auskunft", ""},
		again:     {"können sie das wiederholen|wiederholen sie bitte|wie bitte|was haben sie gesagt|ich habe sie nicht gehört|ich habe nicht verstanden|noch einmal bitte|entschuldigung", ""},
		presence:  {"sind sie da|hören sie mich|sind sie noch da|hallo sind sie da", "Ja, ich höre Sie."},
		hold:      {"warten sie|einen moment|moment bitte|eine sekunde|augenblick|lassen sie mich überlegen", "Lassen Sie sich Zeit."},
		yes:       {"ja|ja bitte|ja gern|natürlich|genau|richtig|einverstanden|stimmt|in ordnung", "Sehr gut. Was möchten Sie wissen?"},
		no:        {"nein|nein danke|nichts|überhaupt nicht|keine", "In Ordnung. Kann ich noch etwas für Sie tun?"},
		booking:   {"ich möchte einen tisch reservieren|ich möchte reservieren|ich hätte gern einen tisch|ich brauche einen termin|ich möchte einen termin vereinbaren|einen tisch für zwei|tisch für vier am freitag reservieren|kann ich einen tisch reservieren", "Ich habe notiert: {number} Personen, {day} um {time}, auf den Namen {name}. Vielen Dank!"},
	},
	asked: "wann öffnen sie|wann öffnen sie am montag|wann machen sie auf|wann schließen sie|wann schließen sie am samstag|haben sie am sonntag geöffnet|haben sie heute offen|wie sind ihre öffnungszeiten|bis wann haben sie geöffnet|" +
		"was kostet das|wie viel kostet es|was sind ihre preise|wo sind sie|wo finde ich sie|wie ist ihre adresse|wie komme ich zu ihnen|haben sie parkplätze|wo kann ich parken|liefern sie auch|kann ich mit karte bezahlen|" +
		"was steht auf der speisekarte|haben sie vegetarische gerichte|muss man reservieren|wie ist ihre telefonnummer|für zwei personen|für vier personen|am vormittag|am nachmittag|um halb sieben|um sieben uhr",
	texts: texts{
		fallback: []string{"Entschuldigung, das habe ich nicht verstanden. Können Sie es anders sagen?", "Es tut mir leid, ich habe Sie noch immer nicht verstanden. {topics}", "Dabei kann ich Ihnen leider nicht helfen."},
		topics:   "Ich kann Ihnen Auskunft geben über {topics}.",
		and:      "und",
		moment:   "Einen Moment bitte, ich sehe noch nach.",
		failed:   "Es tut mir leid, das hat nicht geklappt.",
		done:     "Erledigt.",
		cannot:   "Es tut mir leid, das kann ich im Moment nicht tun.",
		nothing:  "Ich habe noch nichts gesagt. Wie kann ich Ihnen helfen?",
		meet:     "Freut mich, {name}. Wie kann ich Ihnen helfen?",
		ask: map[string]string{
			"number": "Für wie viele Personen?", "day": "Für welchen Tag?", "time": "Um wie viel Uhr?", "name": "Auf welchen Namen, bitte?",
			"digits": "Können Sie mir {slot} nennen, Ziffer für Ziffer?", "text": "Können Sie mir {slot} nennen?",
		},
	},
	numbers: "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn zwanzig",
	tens:    "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig",
	more:    map[string]int{"zwo": 2, "fünfundzwanzig": 25, "fünfunddreißig": 35, "fünfundvierzig": 45},
	digits:  "und", days: "Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag heute morgen",
	at: "um|gegen", clock: "uhr",
	before: "halb=-30|viertel nach=15|viertel vor=-15", after: "",
	afternoon: "abends|am abend|nachmittags|am nachmittag|heute abend", noon: "mittag|mittags",
	people: "personen|leute", party: "für", nameLeads: "ich heiße|mein name ist|auf den namen|auf den namen von",
	instructions: "du bist|sie sind|dein|deine|ihre aufgabe|ihr name|du sollst|du kannst|du hilfst|antworte|antworten sie|sprich|sprechen sie|begrüße|sei|immer|niemals|nie|sag nicht|erfinde|frage|frag|benutze|hilf|wenn der anrufer|wenn der kunde|wenn jemand|falls|der anrufer|der kunde|sage dass|sag dass|erkläre",
	relay:        "sage dass|sag dass|erkläre dass|sage, dass|sag, dass|erkläre, dass",
	self:         "du bist=ich bin|sie sind=ich bin|du heißt=ich heiße|sie heißen=ich heiße|du arbeitest=ich arbeite|du hilfst=ich helfe|dein=mein|deine=meine|ihr name=mein Name",
}
