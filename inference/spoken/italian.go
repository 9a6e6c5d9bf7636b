package spoken

import "strings"

var italian = language{
	code: "it", decimal: ',', group: '.',
	cardinal: italianCardinal, gender: italianGender, elide: italianElide, suffixed: italianSuffixed, day: italianDay, date: italianDate, clock: italianClock,
	of:     func(string) string { return " di " },
	months: italianMonths,
	point:  "virgola", minus: "meno", plus: "più", ratio: "a", numberWord: "numero", percent: "per cento", per: "per", perOf: map[string]string{"mese": "al", "giorno": "al", "settimana": "a", "persona": "a", "notte": "a"}, codes: table("codice pin cap"),
	hourLetter: true, dottedTime: true, timeBefore: table("alle ore dalle le all dall dell delle"), hourWords: []string{"h.", "h"},
	atSign: "chiocciola", dot: "punto", dash: "trattino", underscore: "trattino basso", slash: "barra", colon: "due punti", saidDomains: []string{"it"},
	moneyAnd: "e", scales: table("mila milione milioni miliardo miliardi"),
	currencies: money(`EUR euro euro centesimo centesimi
		USD dollaro dollari centesimo centesimi
		GBP sterlina sterline penny pence u
		JPY yen yen - -
		CHF franco_svizzero franchi_svizzeri centesimo centesimi
		BRL real real centavo centavos
		MXN peso pesos centavo centavos`),
	units: nouns(`km/h chilometro_orario chilometri_orari
		km² chilometro_quadrato chilometri_quadrati
		m² metro_quadrato metri_quadrati
		m³ metro_cubo metri_cubi
		km chilometro chilometri
		m metro metri
		cm centimetro centimetri
		mm millimetro millimetri
		kg chilo chili
		g grammo grammi
		mg milligrammo milligrammi
		l litro litri
		ml millilitro millilitri
		kW chilowatt chilowatt
		kWh chilowattora chilowattora
		GB giga giga
		MB mega mega
		h ora ore f
		min minuto minuti
		s secondo secondi
		°C grado gradi
		°F grado_Fahrenheit gradi_Fahrenheit
		° grado gradi`),
	halfOf: "mezza", halfMore: [2]string{" e mezzo", " e mezza"}, nounFirst: true,
	fractions: pairs(`1/2 mezzo
		1/3 un terzo
		2/3 due terzi
		1/4 un quarto
		3/4 tre quarti
		24/7 ventiquattro sette`),
	symbols: signWords(`& e
		@ chiocciola
		% per cento
		+ più
		= uguale a
		< minore di
		> maggiore di
		× per
		÷ diviso
		~ circa
		€ euro
		$ dollari
		£ sterline
		° gradi
		§ paragrafo`),
}

var italianMonths = table("gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre")

var (
	italianOnes = table("zero uno due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici quindici sedici diciassette diciotto diciannove")
	italianTens = table("- - venti trenta quaranta cinquanta sessanta settanta ottanta novanta")
)

// italianCardinal writes all below a million as one word, as the language does.
func italianCardinal(n int64, u use) string {
	switch n {
	case 0:
		return "zero"
	case 1:
		return [3]string{"uno", "un", "una"}[u]
	}
	large := func(n int64, one, many string) string {
		switch n {
		case 0:
			return ""
		case 1:
			return one
		}
		return italianCardinal(n, masculine) + " " + many
	}
	low := ""
	switch thousands := n / 1000 % 1000; thousands {
	case 0:
	case 1:
		low = "mille"
	default:
		low = italianBelow(thousands) + "mila"
	}
	low += italianBelow(n % 1000)
	if strings.HasSuffix(low, "tre") && low != "tre" {
		low = strings.TrimSuffix(low, "e") + "é"
	}
	return join(" ", large(n/1_000_000_000, "un miliardo", "miliardi"), large(n/1_000_000%1000, "un milione", "milioni"), low)
}

// italianBelow is a number below a thousand without the accent of its last three.
func italianBelow(n int64) string {
	words := ""
	if h := n / 100; h == 1 {
		words = "cento"
	} else if h > 1 {
		words = italianOnes[h] + "cento"
	}
	n %= 100
	tens := ""
	switch {
	case n == 0:
	case n < 20:
		tens = italianOnes[n]
	default:
		tens = italianTens[n/10]
		if n%10 == 1 || n%10 == 8 {
			tens = tens[:len(tens)-1]
		}
		if n%10 > 0 {
			tens += italianOnes[n%10]
		}
	}
	if strings.HasPrefix(tens, "ott") && words != "" {
		words = strings.TrimSuffix(words, "o") // centottanta
	}
	return words + tens
}

var (
	italianMasculine = set("problema programma sistema tema clima giorno mese anno")
	italianFeminine  = set("notte notti chiave chiavi classe classi parte parti mano mani foto moto volta rete luce chiamata città stazione")
	italianSmall     = set("di del della e o in a al alla che è per con senza non sì se si la il lo i gli le un una sono fino come quando ma perché mila milione milioni miliardo miliardi era sarà ogni tra fra né anche ha da su")
)

// italianGender matters for one thing only: there is but one number with a gender.
func italianGender(w string) use {
	switch {
	case italianSmall[w]:
		return alone
	case italianMasculine[w]:
		return masculine
	case italianFeminine[w], endsIn(w, "a", "zione", "sione", "tà", "tù"):
		return feminine
	}
	return masculine
}

// italianElide is "one" before a noun by the sound it begins with.
func italianElide(words, next string) string {
	switch {
	case words == "una" && vowel(next) && !strings.HasPrefix(next, "h"):
		return "un'"
	case words == "un" && len(next) > 1 && (next[0] == 'z' || next[0] == 'x' || next[0] == 'y' || strings.HasPrefix(next, "gn") || strings.HasPrefix(next, "ps") || next[0] == 's' && !vowel(next[1:])):
		return "uno"
	}
	return words
}

var italianOrdinals = table("- primo secondo terzo quarto quinto sesto settimo ottavo nono decimo")

func italianSuffixed(n int64, suffix string) string {
	if n < 1 || n > 999 {
		return ""
	}
	words := ""
	if n <= 10 {
		words = italianOrdinals[n]
	} else {
		stem := italianCardinal(n, alone)
		switch {
		case strings.HasSuffix(stem, "é"):
			stem = strings.TrimSuffix(stem, "é") + "e"
		case strings.HasSuffix(stem, "sei") && n%100 != 16:
		default:
			stem = stem[:len(stem)-1]
		}
		words = stem + "esimo"
	}
	switch suffix {
	case "º", "°", "o":
		return words
	case "ª", "a":
		return feminineWords(words)
	}
	return ""
}

func italianDay(n int, _ string, follows bool) string {
	if n == 1 && follows {
		return "primo"
	}
	return ""
}

func italianDate(d date, _, _ string) string {
	words := italianCardinal(int64(d.day), alone)
	if d.day == 1 {
		words = "primo"
	}
	words += " " + italianMonths[d.month-1]
	if d.year > 0 {
		words += " " + italianCardinal(int64(d.year), alone)
	}
	return words
}

func italianClock(t moment, _ string) string {
	words := italianCardinal(int64(t.h), alone)
	if t.h == 1 {
		words = "una"
	}
	switch {
	case t.m == 0:
	case t.h <= 12 && t.m == 15:
		words += " e un quarto"
	case t.h <= 12 && t.m == 30:
		words += " e mezza"
	default:
		words += " e " + italianCardinal(int64(t.m), alone)
	}
	return words
}
