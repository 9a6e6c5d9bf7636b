package spoken

import "strings"

// Portuguese of Portugal.
var portuguese = language{
	code: "pt", decimal: ',', group: '.',
	cardinal: portugueseCardinal, gender: portugueseGender, suffixed: portugueseSuffixed, date: portugueseDate, clock: portugueseClock,
	of:     func(string) string { return " de " },
	months: portugueseMonths,
	point:  "vírgula", minus: "menos", plus: "mais", to: "a", numberWord: "número", percent: "por cento", per: "por", codes: table("código pin postal cep"),
	hourLetter: true, hourWords: []string{"h.", "h"}, halves: table("a_m p_m"), nine: "239",
	atSign: "arroba", dot: "ponto", dash: "hífen", underscore: "traço baixo", slash: "barra", colon: "dois pontos",
	moneyAnd: "e", scales: table("mil milhão milhões bilião biliões"),
	currencies: money(`EUR euro euros cêntimo cêntimos
		USD dólar dólares cêntimo cêntimos
		GBP libra libras péni pence u
		JPY iene ienes - -
		CHF franco_suíço francos_suíços cêntimo cêntimos
		BRL real reais centavo centavos
		MXN peso pesos centavo centavos`),
	units: nouns(`km/h quilómetro_por_hora quilómetros_por_hora
		km² quilómetro_quadrado quilómetros_quadrados
		m² metro_quadrado metros_quadrados
		m³ metro_cúbico metros_cúbicos
		km quilómetro quilómetros
		m metro metros
		cm centímetro centímetros
		mm milímetro milímetros
		kg quilo quilos
		g grama gramas
		mg miligrama miligramas
		l litro litros
		ml mililitro mililitros
		kW quilowatt quilowatts
		kWh quilowatt-hora quilowatts-hora
		GB gigabyte gigabytes
		MB megabyte megabytes
		h hora horas f
		min minuto minutos
		s segundo segundos
		°C grau graus
		°F grau_Fahrenheit graus_Fahrenheit
		° grau graus`),
	halfOf: "meia", halfMore: [2]string{" e meio", " e meia"}, nounFirst: true,
	fractions: pairs(`1/2 meio
		1/3 um terço
		2/3 dois terços
		1/4 um quarto
		3/4 três quartos
		24/7 vinte e quatro sete`),
	symbols: signWords(`& e
		@ arroba
		% por cento
		+ mais
		= igual a
		< menor que
		> maior que
		× vezes
		÷ a dividir por
		~ cerca de
		€ euros
		$ dólares
		£ libras
		° graus
		§ secção`),
}

var portugueseMonths = table("janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro")

var (
	portugueseOnes     = table("zero um dois três quatro cinco seis sete oito nove dez onze doze treze catorze quinze dezasseis dezassete dezoito dezanove")
	portugueseTens     = table("- - vinte trinta quarenta cinquenta sessenta setenta oitenta noventa")
	portugueseHundreds = table("- cento duzentos trezentos quatrocentos quinhentos seiscentos setecentos oitocentos novecentos")
)

func portugueseCardinal(n int64, u use) string {
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
		thousand = portugueseBelow(thousands, u) + " mil"
	}
	words := join(" ", plural(billions, portugueseCardinal, "um bilião", "biliões"), plural(millions, portugueseCardinal, "um milhão", "milhões"))
	// An "e" goes before the last part when that is tens, or whole hundreds.
	if rest == 0 && words != "" && thousand != "" && (thousands < 100 || thousands%100 == 0) {
		return words + " e " + thousand
	}
	words = join(" ", words, thousand)
	if words != "" && rest > 0 && (rest < 100 || rest%100 == 0) {
		return words + " e " + portugueseBelow(rest, u)
	}
	return join(" ", words, portugueseBelow(rest, u))
}

func portugueseBelow(n int64, u use) string {
	if n == 100 {
		return "cem"
	}
	hundreds, tens, ones := "", "", ""
	if h := n / 100; h > 0 {
		hundreds = portugueseHundreds[h]
		if u == feminine && h > 1 {
			hundreds = strings.TrimSuffix(hundreds, "os") + "as"
		}
	}
	n %= 100
	if n >= 20 {
		tens, n = portugueseTens[n/10], n%10
	}
	switch {
	case n == 1 && u == feminine:
		ones = "uma"
	case n == 2 && u == feminine:
		ones = "duas"
	case n > 0:
		ones = portugueseOnes[n]
	}
	return join(" e ", hundreds, tens, ones)
}

var (
	portugueseMasculine = set("dia dias problema problemas programa programas sistema sistemas idioma idiomas tema temas mapa mapas grama gramas quilograma quilogramas")
	portugueseFeminine  = set("noite noites vez vezes classe classes chave chaves tarde tardes parte partes luz luzes rede redes sede sedes flor flores mulher mulheres mão mãos foto fotos base bases imagem imagens viagem viagens paragem paragens mensagem mensagens ordem ordens")
	portugueseSmall     = set("de do da dos das e ou em a à ao o os as que é por para com sem não sim se um uma são está estão há até desde como quando mas porque mil milhão milhões foi era será cada entre nem também no na nos nas")
)

func portugueseGender(w string) use {
	switch {
	case portugueseSmall[w]:
		return alone
	case portugueseMasculine[w], endsIn(w, "ista", "istas"):
		return masculine
	case portugueseFeminine[w], endsIn(w, "a", "as", "ção", "ções", "são", "sões", "dade", "dades", "gem", "gens"):
		return feminine
	}
	return masculine
}

var (
	portugueseOrdinals    = table("- primeiro segundo terceiro quarto quinto sexto sétimo oitavo nono décimo décimo_primeiro décimo_segundo décimo_terceiro décimo_quarto décimo_quinto décimo_sexto décimo_sétimo décimo_oitavo décimo_nono vigésimo")
	portugueseOrdinalTens = table("- - vigésimo trigésimo quadragésimo quinquagésimo sexagésimo septuagésimo octogésimo nonagésimo")
)

func portugueseSuffixed(n int64, suffix string) string {
	words := latinOrdinal(n, portugueseOrdinals, portugueseOrdinalTens)
	switch suffix {
	case "º", "°", "o":
		return words
	case "ª", "a":
		return feminineWords(words)
	}
	return ""
}

func portugueseDate(d date, _, _ string) string {
	words := portugueseCardinal(int64(d.day), alone) + " de " + portugueseMonths[d.month-1]
	if d.year > 0 {
		words += " de " + portugueseCardinal(int64(d.year), alone)
	}
	return words
}

func portugueseClock(t moment, _ string) string {
	words := portugueseCardinal(int64(t.h), feminine)
	switch {
	case t.m == 0 && t.half == "" && (t.h > 12 || t.h == 0):
		words += " horas"
	case t.m == 0:
	case t.h <= 11 && t.m == 30:
		words += " e meia"
	default:
		words += " e " + portugueseCardinal(int64(t.m), alone)
	}
	return words + partOfDay(t, " da manhã", " da tarde", " da noite")
}
