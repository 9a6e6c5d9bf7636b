package scripted

var french = data{
	code: "fr",
	stop: `le la les l un une des du de d au aux a en dans sur pour par avec et ou que qu qui quoi se s ce c cet cette ces ca
		je j tu il elle on nous vous ils elles me m te t lui leur mon ma mes ton ta tes son sa ses notre nos votre vos
		est sont suis es etes etre ai as avons avez ont avoir y ne n pas plus oui non si mais comment quel quelle quels quelles
		peux peut pouvez puis pourrais voudrais veux voulez aimerais faire fait faut besoin plait svp bien bon alors donc
		dire dites savoir aussi tres ok euh ah acceptez acceptes admis proposez vendez possible question renseignement t`,
	concepts: map[string]string{
		"hours":   "ouvre ouvrez ouvrent ouvrir ouvert ouverts ouverte ouvrons ouverture horaire horaires heure heures ferme fermez ferment fermer fermeture fermons quand tard tot",
		"price":   "prix coute coutent cout combien tarif tarifs cher euro euros gratuit €",
		"where":   "où adresse situe situes situee trouve trouver trouvez rue avenue place venir endroit pres",
		"book":    "reserver reservation reservations reserve table tables rendez rdv",
		"food":    "nourriture menu carte manger plat plats diner dejeuner vegetarien vegetarienne vegetariens vegan cuisine servons servez",
		"deliver": "livraison livraisons livrer livrez livrons emporter envoi",
		"pay":     "payer paiement paiements bancaire especes credit cheque",
		"park":    "parking garer stationner stationnement voiture voitures",
		"contact": "telephone mail email courriel contacter joindre site",
	},
	labels: map[string]string{
		"hours": "nos horaires", "price": "les prix", "where": "notre adresse", "book": "les réservations", "food": "la carte",
		"deliver": "les livraisons", "pay": "le paiement", "park": "le parking", "contact": "nos coordonnées",
	},
	talk: map[string]talk{
		greet:     {"bonjour|bonsoir|salut|allô|bonjour madame|bonjour monsieur", "Bonjour ! Comment puis-je vous aider ?"},
		bye:       {"au revoir|merci au revoir|à bientôt|bonne journée|bonne soirée|c'est tout|ce sera tout merci|rien d'autre merci|à demain|je dois raccrocher|salut au revoir", "Merci de votre appel. Au revoir !"},
		thanks:    {"merci|merci beaucoup|parfait merci|parfait|super|très bien merci", "Je vous en prie. Autre chose ?"},
		wellbeing: {"comment allez vous|ça va|comment ça va|vous allez bien", "Très bien, merci. Comment puis-je vous aider ?"},
		who:       {"qui êtes vous|comment vous appelez vous|à qui je parle|qui est à l'appareil|êtes vous un robot|vous êtes une machine|êtes vous une personne|c'est un enregistrement", "Je suis un assistant automatique qui suit des règles."},
		human:     {"je veux parler à une personne|puis je parler à quelqu'un|parler à un conseiller|passez moi un opérateur|je voudrais parler au responsable", "Désolé, je ne peux pas vous mettre en relation. Puis-je vous aider ?"},
		help:      {"pouvez vous m'aider|aide|que pouvez vous faire|j'ai besoin d'aide|j'ai une question|je voudrais un renseignement", ""},
		again:     {"pouvez vous répéter|répétez s'il vous plaît|pardon|qu'avez vous dit|je n'ai pas entendu|je n'ai pas compris|comment|encore une fois", ""},
		presence:  {"vous êtes là|vous m'entendez|êtes vous toujours là|allô vous êtes là", "Oui, je vous entends."},
		hold:      {"attendez|un moment|un instant|une seconde|patientez|laissez moi réfléchir", "Prenez votre temps."},
		yes:       {"oui|oui s'il vous plaît|bien sûr|d'accord|exactement|c'est ça|tout à fait|c'est exact", "Très bien. Que souhaitez-vous savoir ?"},
		no:        {"non|non merci|pas du tout|rien|aucun", "D'accord. Autre chose ?"},
		booking:   {"je voudrais réserver une table|je veux faire une réservation|je souhaite réserver|je voudrais prendre rendez vous|prendre un rendez vous|une table pour deux|réserver une table pour quatre vendredi|puis je réserver une table", "J'ai noté {number} personnes, {day} à {time}, au nom de {name}. Merci !"},
	},
	asked: "à quelle heure ouvrez vous|à quelle heure ouvrez vous le lundi|quand ouvrez vous|à quelle heure fermez vous|à quelle heure fermez vous le samedi|êtes vous ouverts le dimanche|êtes vous ouverts aujourd'hui|quels sont vos horaires|" +
		"combien ça coûte|quel est le prix|quels sont vos tarifs|où êtes vous|où êtes vous situés|quelle est votre adresse|comment venir|avez vous un parking|où puis je me garer|est ce que vous livrez|je peux payer par carte bancaire|" +
		"qu'y a t il au menu|avez vous des plats végétariens|faut il réserver|quel est votre numéro de téléphone|pour deux personnes|pour quatre personnes|le matin|l'après midi|six heures et demie",
	texts: texts{
		fallback: []string{"Pardon, je n'ai pas compris. Pouvez-vous le dire autrement ?", "Désolé, je n'ai toujours pas compris. {topics}", "Je crains de ne pas pouvoir vous aider pour cela."},
		topics:   "Je peux vous renseigner sur {topics}.",
		and:      "et",
		moment:   "Un instant, s'il vous plaît, je regarde encore.",
		failed:   "Désolé, cela n'a pas fonctionné.",
		done:     "C'est fait.",
		cannot:   "Désolé, je ne peux pas le faire maintenant.",
		nothing:  "Je n'ai encore rien dit. Comment puis-je vous aider ?",
		meet:     "Enchanté, {name}. Comment puis-je vous aider ?",
		ask: map[string]string{
			"number": "Pour combien de personnes ?", "day": "Pour quel jour ?", "time": "À quelle heure ?", "name": "À quel nom, s'il vous plaît ?",
			"digits": "Pouvez-vous me donner {slot}, chiffre par chiffre ?", "text": "Pouvez-vous me donner {slot} ?",
		},
	},
	numbers: "zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix-sept dix-huit dix-neuf vingt",
	tens:    "vingt trente quarante cinquante soixante",
	more:    map[string]int{"une": 1},
	digits:  "et", days: "lundi mardi mercredi jeudi vendredi samedi dimanche aujourd'hui demain",
	at: "à|vers", clock: "heures|heure|h",
	before: "", after: "et demie=30|et demi=30|et quart=15|moins le quart=-15",
	afternoon: "du soir|de l'après midi|ce soir", noon: "midi",
	people: "personnes", party: "pour", nameLeads: "je m'appelle|mon nom est|au nom de",
	instructions: "tu es|vous êtes|ton|ta|tes|votre rôle|votre nom|tu dois|vous devez|tu peux|réponds|répondez|parle|parlez|salue|saluez|sois|soyez|toujours|jamais|ne dis|ne dites|n'invente|n'inventez|demande|demandez|utilise|utilisez|aide|aidez|si le client|si l'appelant|si l'utilisateur|quand le client|quand l'appelant|le client|l'appelant|dis que|dites que|explique|expliquez",
	relay:        "dis que|dites que|explique que|expliquez que|rappelle que|rappelez que",
	self:         "tu es=je suis|vous êtes=je suis|tu t'appelles=je m'appelle|vous vous appelez=je m'appelle|tu travailles=je travaille|vous travaillez=je travaille|ton=mon|ta=ma|tes=mes|votre=mon",
}
