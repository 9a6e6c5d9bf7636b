package spoken

import "strings"

var catalan = language{
	code: "ca", decimal: ',', group: '.',
	cardinal: catalanCardinal, gender: catalanGender, suffixed: catalanSuffixed, date: catalanDate, clock: catalanClock,
	of: catalanOf, months: catalanMonths,
	point: "coma", minus: "menys", plus: "més", to: "a", numberWord: "número", percent: "per cent", per: "per", codes: table("codi pin cp postal"),
	hourLetter: true, dottedTime: true, timeBefore: []string{"les", "la"}, timeAfter: []string{"h", "hores"},
	hourWords: []string{"h.", "h"}, halves: table("a_m p_m"), nine: "6789",
	atSign: "arrova", dot: "punt", dash: "guió", underscore: "guió baix", slash: "barra", colon: "dos punts", saidDomains: []string{"es"},
	moneyAnd: "amb", scales: table("mil milió milions bilió bilions"),
	currencies: money(`EUR euro euros cèntim cèntims
		USD dòlar dòlars centau centaus
		GBP lliura lliures penic penics u
		JPY ien iens - -
		CHF franc_suís francs_suïssos cèntim cèntims
		BRL real reals centau centaus
		MXN peso pesos centau centaus`),
	units: nouns(`km/h quilòmetre_per_hora quilòmetres_per_hora
		km² quilòmetre_quadrat quilòmetres_quadrats
		m² metre_quadrat metres_quadrats
		m³ metre_cúbic metres_cúbics
		km quilòmetre quilòmetres
		m metre metres
		cm centímetre centímetres
		mm mil·límetre mil·límetres
		kg quilo quilos
		g gram grams
		mg mil·ligram mil·ligrams
		l litre litres
		ml mil·lilitre mil·lilitres
		kW quilowatt quilowatts
		kWh quilowatt_hora quilowatts_hora
		GB giga gigues
		MB mega megues
		h hora hores f
		min minut minuts
		s segon segons
		°C grau graus
		°F grau_Fahrenheit graus_Fahrenheit
		° grau graus`),
	halfOf: "mitja", halfMore: [2]string{" i mig", " i mitja"}, nounFirst: true,
	fractions: pairs(`1/2 mig
		1/3 un terç
		2/3 dos terços
		1/4 un quart
		3/4 tres quarts
		24/7 vint-i-quatre set`),
	symbols: signWords(`& i
		@ arrova
		% per cent
		+ més
		= igual a
		< més petit que
		> més gran que
		× per
		÷ dividit per
		~ uns
		€ euros
		$ dòlars
		£ lliures
		° graus
		§ secció`),
}

var catalanMonths = table("gener febrer març abril maig juny juliol agost setembre octubre novembre desembre")

var (
	catalanOnes = table("zero u dos tres quatre cinc sis set vuit nou deu onze dotze tretze catorze quinze setze disset divuit dinou vint")
	catalanTens = table("- - vint trenta quaranta cinquanta seixanta setanta vuitanta noranta")
)

func catalanOf(next string) string {
	if vowel(next) {
		return " d'"
	}
	return " de "
}

func catalanCardinal(n int64, u use) string {
	if n == 0 {
		return "zero"
	}
	billions, millions, thousands, rest := parts(n)
	thousand := ""
	switch thousands {
	case 0:
	case 1:
		thousand = "mil"
	default:
		thousand = catalanBelow(thousands, max(u, masculine)) + " mil"
	}
	return join(" ", plural(billions, catalanCardinal, "un bilió", "bilions"), plural(millions, catalanCardinal, "un milió", "milions"),
		thousand, catalanBelow(rest, u))
}

func catalanBelow(n int64, u use) string {
	hundreds := ""
	switch h := n / 100; {
	case h == 1:
		hundreds = "cent"
	case h > 1 && u == feminine:
		hundreds = catalanOne(h, u) + "-centes"
	case h > 1:
		hundreds = catalanOne(h, u) + "-cents"
	}
	n %= 100
	switch {
	case n == 0:
		return hundreds
	case n <= 20:
		return join(" ", hundreds, catalanOne(n, u))
	case n%10 == 0:
		return join(" ", hundreds, catalanTens[n/10])
	case n < 30:
		return join(" ", hundreds, "vint-i-"+catalanOne(n%10, u))
	}
	return join(" ", hundreds, catalanTens[n/10]+"-"+catalanOne(n%10, u))
}

// catalanOne is a number up to twenty.
func catalanOne(n int64, u use) string {
	switch {
	case n == 1 && u != alone:
		return [3]string{"", "un", "una"}[u]
	case n == 2 && u == feminine:
		return "dues"
	}
	return catalanOnes[n]
}

var (
	catalanMasculine = set("dia dies home homes pare pares metre metres quilòmetre quilòmetres centímetre centímetres litre litres llibre llibres nombre nombres problema problemes programa programes sistema sistemes idioma idiomes tema temes mapa mapes milió milions bilió bilions avió avions camió camions tramvies sopar mesos mes")
	catalanFeminine  = set("nit nits clau claus part parts llum llums xarxa xarxes seu seus flor flors mà mans veu veus tarda clau gent sal mel serp llet foto fotos moto motos vegada vegades hora hores")
	catalanSmall     = set("de del d dels des i o en a al als que és per amb sense no sí si es se la el els les un una són està estan hi ha fins com quan però perquè mil era serà cada entre ni també és")
)

func catalanGender(w string) use {
	switch {
	case catalanSmall[w]:
		return alone
	case catalanMasculine[w]:
		return masculine
	case catalanFeminine[w], endsIn(w, "a", "es", "ió", "ions", "tat", "tats"):
		return feminine
	}
	return masculine
}

var catalanOrdinals = table("- primer segon tercer quart cinquè sisè setè vuitè novè desè onzè dotzè tretzè catorzè quinzè setzè dissetè divuitè dinovè vintè")

func catalanOrdinal(n int64) string {
	if n < int64(len(catalanOrdinals)) {
		return catalanOrdinals[n]
	}
	words := catalanCardinal(n, alone)
	switch {
	case strings.HasSuffix(words, "-u"):
		return words + "nè"
	case strings.HasSuffix(words, "nou"):
		return strings.TrimSuffix(words, "ou") + "ovè"
	case strings.HasSuffix(words, "cinc"):
		return strings.TrimSuffix(words, "c") + "què"
	}
	return strings.TrimRight(words, "aeo") + "è"
}

func catalanSuffixed(n int64, suffix string) string {
	if n < 1 || n > 99 {
		return ""
	}
	words := catalanOrdinal(n)
	switch suffix {
	case "r", "n", "t", "è", "é", "º", "°", "er":
		return words
	case "a", "ª":
		if strings.HasSuffix(words, "è") {
			return strings.TrimSuffix(words, "è") + "ena"
		}
		return words + "a"
	}
	return ""
}

func catalanDate(d date, _, _ string) string {
	month := catalanMonths[d.month-1]
	words := catalanCardinal(int64(d.day), alone) + catalanOf(month) + month
	if d.year > 0 {
		words += " de " + catalanCardinal(int64(d.year), alone)
	}
	return words
}

func catalanClock(t moment, _ string) string {
	words := catalanCardinal(int64(t.h), feminine)
	switch {
	case t.m == 0:
	case t.h <= 12 && t.m == 15:
		words += " i quart"
	case t.h <= 12 && t.m == 30:
		words += " i mitja"
	default:
		words += " i " + catalanCardinal(int64(t.m), alone)
	}
	return words + partOfDay(t, " del matí", " de la tarda", " de la nit")
}
