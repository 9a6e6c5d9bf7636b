package spoken

import "strings"

// Spanish of Spain.
var spanish = language{
	code: "es", decimal: ',', group: '.',
	cardinal: spanishCardinal, gender: spanishGender, suffixed: spanishSuffixed, date: spanishDate, clock: spanishClock,
	of:     func(string) string { return " de " },
	months: spanishMonths,
	point:  "coma", minus: "menos", plus: "más", to: "a", numberWord: "número", percent: "por ciento", per: "por", perOf: map[string]string{"mes": "al", "día": "al", "año": "al", "semana": "a la"}, codes: table("código pin cp postal"),
	hourLetter: true, hourWords: []string{"h.", "h", "hs"}, halves: table("a_m p_m"), nine: "6789",
	atSign: "arroba", dot: "punto", dash: "guion", underscore: "guion bajo", slash: "barra", colon: "dos puntos", saidDomains: []string{"es"},
	moneyAnd: "con", scales: table("mil millón millones billón billones"),
	currencies: money(`EUR euro euros céntimo céntimos
		USD dólar dólares centavo centavos
		GBP libra libras penique peniques u
		JPY yen yenes - -
		CHF franco_suizo francos_suizos céntimo céntimos
		BRL real reales centavo centavos
		MXN peso pesos centavo centavos`),
	units: nouns(`km/h kilómetro_por_hora kilómetros_por_hora
		km² kilómetro_cuadrado kilómetros_cuadrados
		m² metro_cuadrado metros_cuadrados
		m³ metro_cúbico metros_cúbicos
		km kilómetro kilómetros
		m metro metros
		cm centímetro centímetros
		mm milímetro milímetros
		kg kilo kilos
		g gramo gramos
		mg miligramo miligramos
		l litro litros
		ml mililitro mililitros
		kW kilovatio kilovatios
		kWh kilovatio_hora kilovatios_hora
		GB giga gigas
		MB mega megas
		h hora horas f
		min minuto minutos
		s segundo segundos
		°C grado grados
		°F grado_Fahrenheit grados_Fahrenheit
		° grado grados`),
	halfOf: "media", halfMore: [2]string{" y medio", " y media"}, nounFirst: true,
	fractions: pairs(`1/2 medio
		1/3 un tercio
		2/3 dos tercios
		1/4 un cuarto
		3/4 tres cuartos
		24/7 veinticuatro siete`),
	symbols: signWords(`& y
		@ arroba
		% por ciento
		+ más
		= igual a
		< menor que
		> mayor que
		× por
		÷ entre
		~ unos
		€ euros
		$ dólares
		£ libras
		° grados
		§ sección`),
}

var spanishMonths = table("enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre")

var (
	spanishOnes     = table("cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete dieciocho diecinueve veinte veintiuno veintidós veintitrés veinticuatro veinticinco veintiséis veintisiete veintiocho veintinueve")
	spanishTens     = table("- - - treinta cuarenta cincuenta sesenta setenta ochenta noventa")
	spanishHundreds = table("- ciento doscientos trescientos cuatrocientos quinientos seiscientos setecientos ochocientos novecientos")
)

func spanishCardinal(n int64, u use) string {
	if n == 0 {
		return "cero"
	}
	billions, millions, thousands, rest := parts(n)
	return join(" ", plural(billions, spanishCardinal, "un billón", "billones"), plural(millions, spanishCardinal, "un millón", "millones"),
		spanishThousands(thousands, u), spanishBelow(rest, u))
}

// plural is a number of millions and the like, in a language where they are
// masculine nouns.
func plural(n int64, cardinal func(int64, use) string, one, many string) string {
	switch n {
	case 0:
		return ""
	case 1:
		return one
	}
	return cardinal(n, masculine) + " " + many
}

func spanishThousands(n int64, u use) string {
	switch n {
	case 0:
		return ""
	case 1:
		return "mil"
	}
	if u == alone {
		u = masculine
	}
	return spanishBelow(n, u) + " mil"
}

// spanishBelow is a number below a thousand; empty for 0.
func spanishBelow(n int64, u use) string {
	words := ""
	if h := n / 100; h > 0 {
		if n == 100 {
			return "cien"
		}
		words = spanishHundreds[h]
		if u == feminine && h > 1 {
			words = strings.TrimSuffix(words, "os") + "as"
		}
	}
	n %= 100
	switch {
	case n == 0:
		return words
	case n%10 == 1 && n != 11:
		return join(" ", words, spanishOne(n, u))
	case n < 30:
		return join(" ", words, spanishOnes[n])
	}
	tens := spanishTens[n/10]
	if n%10 > 0 {
		tens += " y " + spanishOnes[n%10]
	}
	return join(" ", words, tens)
}

// spanishOne is 1, 21, 31 and so on.
func spanishOne(n int64, u use) string {
	one := [3]string{"uno", "un", "una"}[u]
	switch {
	case n == 1:
		return one
	case n == 21 && u == masculine:
		return "veintiún"
	case n == 21:
		return "veinti" + one
	}
	return spanishTens[n/10] + " y " + one
}

var (
	spanishMasculine = set("días día problemas problema programas programa sistemas sistema idiomas idioma temas tema mapas mapa planetas planeta dálmatas atletas turistas")
	spanishFeminine  = set("noche noches vez veces clase clases llave llaves tarde tardes parte partes calle calles gente luz luces red redes sede sedes sal flor flores mujer mujeres mano manos foto fotos moto motos serie series base bases leche imagen imágenes orden señal señales")
	spanishSmall     = set("de del y o u e en a al que es por para con sin no sí si se la el los las lo le les un una son está están hay ha han más menos desde hasta como cuando pero porque mil millón millones fue era será cada entre ni también hace según")
)

func spanishGender(w string) use {
	switch {
	case spanishSmall[w]:
		return alone
	case spanishMasculine[w], endsIn(w, "ista", "istas"):
		return masculine
	case spanishFeminine[w], endsIn(w, "a", "as", "ión", "iones", "dad", "dades", "tad", "tades", "tud", "tudes"):
		return feminine
	}
	return masculine
}

func endsIn(w string, endings ...string) bool {
	for _, e := range endings {
		if strings.HasSuffix(w, e) {
			return true
		}
	}
	return false
}

var (
	spanishOrdinals     = table("- primero segundo tercero cuarto quinto sexto séptimo octavo noveno décimo undécimo duodécimo decimotercero decimocuarto decimoquinto decimosexto decimoséptimo decimoctavo decimonoveno vigésimo")
	spanishOrdinalTens  = table("- - vigésimo trigésimo cuadragésimo quincuagésimo sexagésimo septuagésimo octogésimo nonagésimo")
	spanishShortOrdinal = map[int64]string{1: "primer", 3: "tercer"}
)

// spanishShortened are nouns that shorten the ordinal before them: "tercer piso".
var spanishShortened = set("piso plato día puesto grado curso premio lugar trimestre semestre nivel año mes paso turno equipo hijo intento apellido nombre aviso")

func spanishSuffixed(n int64, suffix string) string {
	switch suffix {
	case "º", "°", "o", "ª", "a", "er", "ero", "era", "do", "da", "ro", "ra", "to", "ta":
	default:
		return ""
	}
	if s := spanishShortOrdinal[n%10]; suffix == "er" && s != "" && n < 10 {
		return s
	}
	words := latinOrdinal(n, spanishOrdinals, spanishOrdinalTens)
	if words != "" && (suffix == "ª" || strings.HasSuffix(suffix, "a")) {
		return feminineWords(words)
	}
	return words
}

// latinOrdinal makes ordinals up to 99 of tables that go up to 20.
func latinOrdinal(n int64, ones, tens []string) string {
	switch {
	case n < 1 || n > 99:
		return ""
	case n < int64(len(ones)):
		return ones[n]
	case n%10 == 0:
		return tens[n/10]
	}
	return tens[n/10] + " " + ones[n%10]
}

// feminineWords turns the o at the end of each word into an a.
func feminineWords(words string) string {
	list := strings.Fields(words)
	for i, w := range list {
		if strings.HasSuffix(w, "o") {
			list[i] = w[:len(w)-1] + "a"
		}
	}
	return strings.Join(list, " ")
}

func spanishDate(d date, _, _ string) string {
	words := spanishCardinal(int64(d.day), alone) + " de " + spanishMonths[d.month-1]
	if d.year > 0 {
		words += " de " + spanishCardinal(int64(d.year), alone)
	}
	return words
}

func spanishClock(t moment, _ string) string {
	if t.half != "" && t.h > 12 {
		t.half = ""
	}
	words := spanishCardinal(int64(t.h), feminine)
	switch {
	case t.m == 0:
	case t.h <= 12 && t.m == 15:
		words += " y cuarto"
	case t.h <= 12 && t.m == 30:
		words += " y media"
	case t.h <= 12:
		words += " y " + spanishCardinal(int64(t.m), alone)
	case t.m < 10:
		words += " cero " + spanishOnes[t.m]
	default:
		words += " " + spanishCardinal(int64(t.m), alone)
	}
	return words + partOfDay(t, " de la mañana", " de la tarde", " de la noche")
}

// partOfDay says which half of the day is meant, when it was written.
func partOfDay(t moment, morning, afternoon, night string) string {
	switch {
	case t.half == "":
		return ""
	case t.half == "am":
		return morning
	case t.h%12 < 8:
		return afternoon
	}
	return night
}
