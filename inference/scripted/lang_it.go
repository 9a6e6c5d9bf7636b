package scripted

var italian = data{
	code: "it",
	stop: `il lo la i gli le l un uno una di del dello della dei degli delle a al allo alla ai agli alle da dal dalla in nel nella
		con su sul per tra e ed o che chi cosa come quale quali mi ti si ci vi me te lei lui noi voi loro mio mia tuo tua suo sua nostro vostro
		è sono sei siamo siete essere ho ha hai abbiamo avete hanno avere c non no piu molto ma se
		posso puo puoi potrei potete vorrei voglio vuole volevo fare fa bisogno favore prego bene allora dunque questo quello qui
		dire dica dimmi sapere anche ok eh ah ammessi accettate offrite vendete possibile domanda informazione portare venire`,
	concepts: map[string]string{
		"hours":   "apre aprite aprono aprire aperto aperti aperta apriamo apertura orario orari ora ore chiude chiudete chiudono chiudere chiuso chiusi chiudiamo chiusura quando tardi presto",
		"price":   "prezzo prezzi costa costano costo quanto tariffa tariffe caro economico euro gratis gratuito €",
		"where":   "dove indirizzo posizione situati trova trovate trovo via viale piazza arrivare arrivo posto vicino",
		"book":    "prenotare prenotazione prenotazioni prenoto tavolo tavoli appuntamento appuntamenti",
		"food":    "cibo menu mangiare piatto piatti cena pranzo colazione vegetariano vegetariana vegetariani vegano cucina serviamo servite",
		"deliver": "consegna consegne consegnate consegniamo domicilio spedizione asporto ritirare",
		"pay":     "pagare pagamento pagamenti carta carte contanti credito bancomat",
		"park":    "parcheggio parcheggiare parcheggi macchina auto garage",
		"contact": "telefono email posta contattare contatto sito",
	},
	labels: map[string]string{
		"hours": "gli orari", "price": "i prezzi", "where": "dove siamo", "book": "le prenotazioni", "food": "il menù",
		"deliver": "le consegne", "pay": "i pagamenti", "park": "il parcheggio", "contact": "i nostri contatti",
	},
	talk: map[string]talk{
		greet:     {"ciao|buongiorno|buonasera|buon giorno|buona sera|salve|pronto|buon pomeriggio", "Buongiorno! Come posso aiutarla?"},
		bye:       {"arrivederci|ciao ciao|a presto|grazie arrivederci|grazie ciao|è tutto|nient'altro grazie|buona giornata|buona serata|a domani|devo andare", "Grazie per la chiamata. Arrivederci!"},
		thanks:    {"grazie|grazie mille|molte grazie|perfetto grazie|perfetto|ottimo", "Prego. Altro?"},
		wellbeing: {"come sta|come stai|come va|tutto bene", "Molto bene, grazie. Come posso aiutarla?"},
		who:       {"chi è lei|chi sei|come si chiama|come ti chiami|con chi parlo|sei un robot|è un robot|è una macchina|sei una persona|è una registrazione", "Sono un assistente automatico che segue delle regole."},
		human:     {"vorrei parlare con una persona|posso parlare con qualcuno|parlare con un operatore|mi passi un operatore|voglio parlare con il responsabile", "Mi dispiace, non posso passarle nessuno. Posso aiutarla in qualcosa?"},
		help:      {"mi può aiutare|aiuto|cosa puoi fare|che cosa può fare|ho bisogno di aiuto|ho una domanda|vorrei un'informazione", ""},
		again:     {"può ripetere|ripeta per favore|come ha detto|scusi|cosa ha detto|non ho sentito|non ho capito|di nuovo per favore", ""},
		presence:  {"è lì|mi sente|è ancora lì|pronto mi sente", "Sì, la sento."},
		hold:      {"aspetti|un momento|un attimo|un secondo|aspetta|mi faccia pensare", "Faccia con calma."},
		yes:       {"sì|sì grazie|certo|certamente|esatto|giusto|va bene|d'accordo|corretto", "Molto bene. Che cosa vorrebbe sapere?"},
		no:        {"no|no grazie|niente|per niente|nessuno", "Va bene. Altro?"},
		booking:   {"vorrei prenotare un tavolo|voglio fare una prenotazione|vorrei prenotare|vorrei prendere un appuntamento|prendere appuntamento|un tavolo per due|prenotare un tavolo per quattro venerdì|posso prenotare un tavolo", "Ho segnato {number} persone, {day} alle {time}, a nome {name}. Grazie!"},
	},
	asked: "a che ora aprite|a che ora aprite il lunedì|quando aprite|a che ora chiudete|a che ora chiudete il sabato|siete aperti la domenica|siete aperti oggi|quali sono gli orari|fino a che ora siete aperti|" +
		"quanto costa|qual è il prezzo|quali sono i prezzi|dove siete|dove vi trovate|qual è l'indirizzo|come si arriva|avete un parcheggio|dove posso parcheggiare|consegnate a domicilio|posso pagare con la carta|" +
		"cosa c'è nel menù|avete piatti vegetariani|bisogna prenotare|qual è il numero di telefono|per due persone|per quattro persone|di mattina|di pomeriggio|alle sei e mezza",
	texts: texts{
		fallback: []string{"Mi scusi, non ho capito. Può dirlo in un altro modo?", "Mi dispiace, non ho ancora capito. {topics}", "Temo di non poterla aiutare in questo."},
		topics:   "Posso darle informazioni su: {topics}.",
		and:      "e",
		moment:   "Un attimo, per favore, sto ancora guardando.",
		failed:   "Mi dispiace, non ha funzionato.",
		done:     "Fatto.",
		cannot:   "Mi dispiace, adesso non posso farlo.",
		nothing:  "Non ho ancora detto niente. Come posso aiutarla?",
		meet:     "Piacere, {name}. Come posso aiutarla?",
		ask: map[string]string{
			"number": "Per quante persone?", "day": "Per quale giorno?", "time": "A che ora?", "name": "A che nome, per favore?",
			"digits": "Può dirmi {slot}, cifra per cifra?", "text": "Può dirmi {slot}?",
		},
	},
	numbers: "zero uno due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici quindici sedici diciassette diciotto diciannove venti",
	tens:    "venti trenta quaranta cinquanta sessanta settanta ottanta novanta",
	more: map[string]int{"un": 1, "una": 1, "ventuno": 21, "ventidue": 22, "ventitré": 23, "ventiquattro": 24, "venticinque": 25,
		"ventisei": 26, "ventisette": 27, "ventotto": 28, "ventinove": 29, "trentacinque": 35, "quarantacinque": 45},
	digits: "e", days: "lunedì martedì mercoledì giovedì venerdì sabato domenica oggi domani",
	at: "alle|alle ore|all'|verso le|le", clock: "in punto",
	before: "", after: "e mezza=30|e mezzo=30|e un quarto=15|meno un quarto=-15",
	afternoon: "di sera|del pomeriggio|di pomeriggio|stasera", noon: "mezzogiorno",
	people: "persone", party: "per", nameLeads: "mi chiamo|il mio nome è|a nome di|a nome",
	instructions: "sei|tu sei|lei è|il tuo|la tua|ti chiami|devi|puoi|rispondi|risponda|parla|saluta|sii|sempre|mai|non dire|non inventare|chiedi|usa|aiuta|lavori|se il cliente|se chi chiama|se l'utente|quando il cliente|quando chi chiama|il cliente|l'utente|di' che|spiega",
	relay:        "di' che|di che|spiega che|ricorda che",
	self:         "tu sei=sono|lei è=sono|sei=sono|ti chiami=mi chiamo|lavori=lavoro|rispondi=rispondo|tuo=mio|tua=mia",
}
