package spoken

import "strings"

var galician = language{
	code: "gl", decimal: ',', group: '.',
	cardinal: galicianCardinal, gender: galicianGender, suffixed: galicianSuffixed, date: galicianDate, clock: galicianClock,
	of:     func(string) string { return " de " },
	months: galicianMonths,
	point:  "coma", minus: "menos", plus: "máis", to: "a", numberWord: "número", percent: "por cento", per: "por", codes: table("código pin cp postal"),
	hourLetter: true, hourWords: []string{"h.", "h"}, halves: table("a_m p_m"), nine: "6789",
	atSign: "arroba", dot: "punto", dash: "guión", underscore: "guión baixo", slash: "barra", colon: "dous puntos", saidDomains: []string{"es"},
	moneyAnd: "con", scales: table("mil millón millóns billón billóns"),
	currencies: money(`EUR euro euros céntimo céntimos
		USD dólar dólares centavo centavos
		GBP libra libras penique peniques u
		JPY ien iens - -
		CHF franco_suízo francos_suízos céntimo céntimos
		BRL real reais centavo centavos
		MXN peso pesos centavo centavos`),
	units: nouns(`km/h quilómetro_por_hora quilómetros_por_hora
		km² quilómetro_cadrado quilómetros_cadrados
		m² metro_cadrado metros_cadrados
		m³ metro_cúbico metros_cúbicos
		km quilómetro quilómetros
		m metro metros
		cm centímetro centímetros
		mm milímetro milímetros
		kg quilo quilos
		g gramo gramos
		mg miligramo miligramos
		l litro litros
		ml mililitro mililitros
		kW quilovatio quilovatios
		kWh quilovatio_hora quilovatios_hora
		GB xiga xigas
		MB mega megas
		h hora horas f
		min minuto minutos
		s segundo segundos
		°C grao graos
		°F grao_Fahrenheit graos_Fahrenheit
		° grao graos`),
	halfOf: "media", halfMore: [2]string{" e medio", " e media"}, nounFirst: true,
	fractions: pairs(`1/2 medio
		1/3 un terzo
		2/3 dous terzos
		1/4 un cuarto
		3/4 tres cuartos
		24/7 vinte e catro sete`),
	symbols: signWords(`& e
		@ arroba
		% por cento
		+ máis
		= igual a
		< menor que
		> maior que
		× por
		÷ entre
		~ uns
		€ euros
		$ dólares
		£ libras
		° graos
		§ sección`),
}

var galicianMonths = table("xaneiro febreiro marzo abril maio xuño xullo agosto setembro outubro novembro decembro")

var (
	galicianOnes     = table("cero un dous tres catro cinco seis sete oito nove dez once doce trece catorce quince dezaseis dezasete dezaoito dezanove")
	galicianTens     = table("- - vinte trinta corenta cincuenta sesenta setenta oitenta noventa")
	galicianHundreds = table("- cento douscentos trescentos catrocentos cincocentos seiscentos setecentos oitocentos novecentos")
)

func galicianCardinal(n int64, u use) string {
	if n == 0 {
		return "cero"
	}
	billions, millions, thousands, rest := parts(n)
	thousand := ""
	switch thousands {
	case 0:
	case 1:
		thousand = "mil"
	default:
		thousand = galicianBelow(thousands, u) + " mil"
	}
	return join(" ", plural(billions, galicianCardinal, "un billón", "billóns"), plural(millions, galicianCardinal, "un millón", "millóns"),
		thousand, galicianBelow(rest, u))
}

func galicianBelow(n int64, u use) string {
	if n == 100 {
		return "cen"
	}
	hundreds, tens := "", ""
	if h := n / 100; h > 0 {
		hundreds = galicianHundreds[h]
		if u == feminine && h > 1 {
			hundreds = strings.TrimSuffix(hundreds, "os") + "as"
			if h == 2 {
				hundreds = "duascentas"
			}
		}
	}
	n %= 100
	if n >= 20 {
		tens, n = galicianTens[n/10], n%10
	}
	ones := ""
	switch {
	case n == 1 && u == feminine:
		ones = "unha"
	case n == 2 && u == feminine:
		ones = "dúas"
	case n > 0:
		ones = galicianOnes[n]
	}
	return join(" ", hundreds, join(" e ", tens, ones))
}

var (
	galicianMasculine = set("día días problema problemas programa programas sistema sistemas idioma idiomas tema temas mapa mapas")
	galicianFeminine  = set("noite noites vez veces clase clases chave chaves tarde tardes parte partes rúa rúas xente luz luces rede redes sede sedes flor flores muller mulleres man mans foto fotos base bases imaxe imaxes mesa mesas")
	galicianSmall     = set("de do da dos das e ou en a á ao o os as que é por para con sen non si se un unha son está están hai ata desde como cando pero porque mil millón millóns foi era será cada entre nin tamén hai no na")
)

func galicianGender(w string) use {
	switch {
	case galicianSmall[w]:
		return alone
	case galicianMasculine[w], endsIn(w, "ista", "istas"):
		return masculine
	case galicianFeminine[w], endsIn(w, "a", "as", "ión", "ións", "dade", "dades", "xe", "xes"):
		return feminine
	}
	return masculine
}

var (
	galicianOrdinals    = table("- primeiro segundo terceiro cuarto quinto sexto sétimo oitavo noveno décimo undécimo duodécimo décimo_terceiro décimo_cuarto décimo_quinto décimo_sexto décimo_sétimo décimo_oitavo décimo_noveno vixésimo")
	galicianOrdinalTens = table("- - vixésimo trixésimo cuadraxésimo quincuaxésimo sesaxésimo septuaxésimo octoxésimo nonaxésimo")
)

func galicianSuffixed(n int64, suffix string) string {
	words := latinOrdinal(n, galicianOrdinals, galicianOrdinalTens)
	switch suffix {
	case "º", "°", "o":
		return words
	case "ª", "a":
		return feminineWords(words)
	}
	return ""
}

func galicianDate(d date, _, _ string) string {
	words := galicianCardinal(int64(d.day), alone) + " de " + galicianMonths[d.month-1]
	if d.year > 0 {
		words += " de " + galicianCardinal(int64(d.year), alone)
	}
	return words
}

func galicianClock(t moment, _ string) string {
	words := galicianCardinal(int64(t.h), feminine)
	switch {
	case t.m == 0:
	case t.h <= 12 && t.m == 15:
		words += " e cuarto"
	case t.h <= 12 && t.m == 30:
		words += " e media"
	default:
		words += " e " + galicianCardinal(int64(t.m), alone)
	}
	return words + partOfDay(t, " da mañá", " da tarde", " da noite")
}
