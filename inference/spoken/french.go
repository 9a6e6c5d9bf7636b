package spoken

import "strings"

// French of France.
var french = language{
	code: "fr", decimal: ',', group: '.',
	cardinal: frenchCardinal, gender: frenchGender, suffixed: frenchSuffixed, day: frenchDay, date: frenchDate, clock: frenchClock,
	of: frenchOf, months: frenchMonths,
	point: "virgule", minus: "moins", plus: "plus", to: "à", numberWord: "numéro", percent: "pour cent", per: "par", fixed: [][2]string{{"24h/24", "vingt-quatre heures sur vingt-quatre"}, {"24 h/24", "vingt-quatre heures sur vingt-quatre"}, {"7j/7", "sept jours sur sept"}, {"7 j/7", "sept jours sur sept"}}, codes: table("code pin"),
	zeroIsOne: true, hourLetter: true, hourWords: []string{"heures", "heure", "h.", "h"}, pairs: true,
	atSign: "arobase", dot: "point", dash: "tiret", underscore: "tiret bas", slash: "slash", colon: "deux points",
	moneyAnd: "et", bareCents: true, scales: table("mille million millions milliard milliards"),
	currencies: money(`EUR euro euros centime centimes
		USD dollar dollars cent cents
		GBP livre livres penny pence u
		JPY yen yens - -
		CHF franc_suisse francs_suisses centime centimes
		BRL réal réaux centavo centavos
		MXN peso pesos centavo centavos`),
	units: nouns(`km/h kilomètre-heure kilomètres-heure
		km² kilomètre_carré kilomètres_carrés
		m² mètre_carré mètres_carrés
		m³ mètre_cube mètres_cubes
		km kilomètre kilomètres
		m mètre mètres
		cm centimètre centimètres
		mm millimètre millimètres
		kg kilo kilos
		g gramme grammes
		mg milligramme milligrammes
		l litre litres
		ml millilitre millilitres
		kW kilowatt kilowatts
		kWh kilowattheure kilowattheures
		GB gigaoctet gigaoctets
		MB mégaoctet mégaoctets
		h heure heures f
		min minute minutes f
		s seconde secondes f
		°C degré degrés
		°F degré_Fahrenheit degrés_Fahrenheit
		° degré degrés`),
	halfOf: "une demi", halfMore: [2]string{" et demi", " et demie"}, nounFirst: true,
	fractions: pairs(`1/2 un demi
		1/3 un tiers
		2/3 deux tiers
		1/4 un quart
		3/4 trois quarts
		24/7 vingt-quatre sept`),
	symbols: signWords(`& et
		@ arobase
		% pour cent
		+ plus
		= égale
		< inférieur à
		> supérieur à
		× fois
		÷ divisé par
		~ environ
		€ euros
		$ dollars
		£ livres
		° degrés
		§ paragraphe`),
}

var frenchMonths = table("janvier février mars avril mai juin juillet août septembre octobre novembre décembre")

var (
	frenchOnes = table("zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix-sept dix-huit dix-neuf")
	frenchTens = table("- - vingt trente quarante cinquante soixante soixante quatre-vingt quatre-vingt")
)

func frenchOf(next string) string {
	if vowel(next) {
		return " d'"
	}
	return " de "
}

func frenchCardinal(n int64, u use) string {
	if n == 0 {
		return "zéro"
	}
	billions, millions, thousands, rest := n/1_000_000_000, n/1_000_000%1000, n/1000%1000, n%1000
	thousand := ""
	switch thousands {
	case 0:
	case 1:
		thousand = "mille"
	default:
		thousand = frenchBelow(thousands, masculine, false) + " mille"
	}
	return join(" ", frenchLarge(billions, "milliard"), frenchLarge(millions, "million"), thousand, frenchBelow(rest, u, true))
}

func frenchLarge(n int64, name string) string {
	switch {
	case n == 0:
		return ""
	case n == 1:
		return "un " + name
	case n >= 1000:
		return frenchCardinal(n, masculine) + " " + name + "s"
	}
	return frenchBelow(n, masculine, true) + " " + name + "s"
}

// frenchBelow is a number below a thousand. last says that nothing of the number
// follows: "cents" and "vingts" lose their s before "mille".
func frenchBelow(n int64, u use, last bool) string {
	hundreds := ""
	if h := n / 100; h == 1 {
		hundreds = "cent"
	} else if h > 1 {
		hundreds = frenchOnes[h] + " cent"
		if n%100 == 0 && last {
			hundreds += "s"
		}
	}
	n %= 100
	one := "un"
	if u == feminine {
		one = "une"
	}
	tens := ""
	switch d := n / 10; {
	case n == 0:
	case n == 1:
		tens = one
	case n < 20:
		tens = frenchOnes[n]
	case n == 80 && last:
		tens = "quatre-vingts"
	case n == 71:
		tens = "soixante et onze"
	case d == 7 || d == 9:
		tens = frenchTens[d] + "-" + frenchOnes[n-d*10+10]
	case n%10 == 0:
		tens = frenchTens[d]
	case n == 81:
		tens = "quatre-vingt-" + one
	case n%10 == 1:
		tens = frenchTens[d] + " et " + one
	default:
		tens = frenchTens[d] + "-" + frenchOnes[n%10]
	}
	return join(" ", hundreds, tens)
}

var (
	frenchMasculine = set("problème programme système groupe service mètre kilomètre litre titre livre membre centre étage article exemple siècle contrôle film arbre homme peuple jour mois euro euros musée lycée trajet comité côté été parage passage message voyage village garage stage âge article élève élèves articles étages livres mètres membres exemplaires exemplaire véhicule véhicules invité invités employé employés degré degrés numéro numéros")
	frenchFeminine  = set("personne personnes heure heures minute minutes seconde secondes nuit nuits semaine semaines fois chambre chambres place places table tables page pages livre-sterling année années journée journées ligne lignes carte cartes voiture voitures clé clés porte portes maison maisons rue rues pièce pièces part parts boîte boîtes bouteille bouteilles commande commandes entrée entrées offre offres question questions réponse réponses option options femme femmes fille filles ville villes main mains fleur fleurs classe classes étape étapes équipe équipes unité unités marche marches facture factures tasse tasses assiette assiettes serviette serviettes valise valises demi-heure")
	frenchSmall     = set("de du des d et ou en à au aux que qui est pour par avec sans ne pas si se la le les un une sont jusqu jusque comme quand mais car mille million millions milliard milliards était sera chaque entre ni aussi a ont sur dans")
)

func frenchGender(w string) use {
	switch {
	case frenchSmall[w]:
		return alone
	case frenchMasculine[w]:
		return masculine
	case frenchFeminine[w], endsIn(w, "tion", "tions", "sion", "sions", "ité", "ités", "ée", "ées", "euse", "euses", "ette", "ettes", "ance", "ances", "ence", "ences", "ure", "ures", "ie", "ies", "elle", "elles", "trice", "trices"):
		return feminine
	}
	return masculine
}

func frenchOrdinal(n int64) string {
	words := frenchCardinal(n, alone)
	switch {
	case n == 1:
		return "premier"
	case strings.HasSuffix(words, "cinq"):
		words += "u"
	case strings.HasSuffix(words, "neuf"):
		words = strings.TrimSuffix(words, "f") + "v"
	case strings.HasSuffix(words, "vingts"), strings.HasSuffix(words, "cents"):
		words = strings.TrimSuffix(words, "s")
	}
	return strings.TrimSuffix(words, "e") + "ième"
}

func frenchSuffixed(n int64, suffix string) string {
	if n < 1 {
		return ""
	}
	switch strings.ToLower(suffix) {
	case "er":
		return "premier"
	case "re", "ère":
		return "première"
	case "nd":
		return "second"
	case "nde":
		return "seconde"
	case "e", "ème", "eme", "è", "ième":
		return frenchOrdinal(n)
	}
	return ""
}

func frenchDay(n int, _ string, follows bool) string {
	if n == 1 && follows {
		return "premier"
	}
	return ""
}

func frenchDate(d date, _, _ string) string {
	words := frenchCardinal(int64(d.day), alone)
	if d.day == 1 {
		words = "premier"
	}
	words += " " + frenchMonths[d.month-1]
	if d.year > 0 {
		words += " " + frenchCardinal(int64(d.year), alone)
	}
	return words
}

func frenchClock(t moment, _ string) string {
	words := frenchCardinal(int64(t.h), feminine) + " heure"
	if t.h > 1 {
		words += "s"
	}
	if t.m > 0 {
		words += " " + frenchCardinal(int64(t.m), feminine)
	}
	return words
}
