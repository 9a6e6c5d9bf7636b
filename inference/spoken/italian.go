package spoken

import "strings"

var italian = language{
	code: "it", decimal: ',', group: '.', traits: hourLetter | dottedTime,
	rules: numbers(`0 zero uno due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici quindici sedici diciassette diciotto diciannove;
		20+10 venti trenta quaranta cinquanta sessanta settanta ottanta novanta [>]; 100 cento[>]; 200/100 <cento[>];
		1000 mille[>]; 2000/1000 <mmila[>]; 1e6 un_milione[_>]; 2e6/1e6 <_milioni[_>]; 1e9 un_miliardo[_>]; 2e9/1e9 <_miliardi[_>]`),
	one:    [3]string{"uno", "un", "una"},
	sounds: strings.NewReplacer("ntiuno", "ntuno", "ntauno", "ntuno", "ntiotto", "ntotto", "ntaotto", "ntotto", "oott", "ott", "itre ", "itré ", "atre ", "atré ", "otre ", "otré ", "etre ", "etré "),
	nouns: gender{
		masculine:       set("problema programma sistema tema clima giorno mese anno"),
		feminine:        set("notte notti chiave chiavi classe classi parte parti mano mani foto moto volta rete luce chiamata città stazione"),
		none:            set("di del della e o in a al alla che è per con senza non sì se si la il lo i gli le un una sono fino come quando ma perché mila milione milioni miliardo miliardi era sarà ogni tra fra né anche ha da su"),
		feminineEndings: table("a zione sione tà tù"),
	},
	ordinals: ordinals{most: 999, first: table("primo secondo terzo quarto quinto sesto settimo ottavo nono decimo"),
		endings:  changes("tré treesimo, sei seiesimo, a esimo, e esimo, i esimo, o esimo"),
		suffixes: pairs("º m, ° m, o m, ª f, a f")},
	times: times{use: feminine, quarter: " e un quarto", half: " e mezza", halfTo: 12, and: " e ", late: " e "},
	of:    " di ", firstDay: "primo", elide: italianElide,
	months: table("gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre"),
	point:  "virgola", minus: "meno", ratio: "a", numberWord: "numero", per: "per", codes: table("codice pin cap"),
	timeBefore: table("alle ore dalle le all dall dell delle"), hourWords: []string{"h.", "h"},
	signs: pairs(`@ chiocciola, . punto, - trattino, _ trattino basso, / barra, : due punti,
		& e, = uguale a, < minore di, > maggiore di, × per, ÷ diviso, ~ circa, § paragrafo, ° gradi, + più`), saidDomains: []string{"it"},
	moneyAnd: "e", scales: table("mila milione milioni miliardo miliardi"),
	units: units(`% per_cento =, € euro euro centesimo centesimi, $ dollaro dollari centesimo centesimi, £ sterlina sterline penny pence,
		CHF franco_svizzero franchi_svizzeri centesimo centesimi, BRL real real centavo centavos, ¥ yen =, MXN peso pesos centavo centavos,
		km/h chilometro_orario chilometri_orari, km chilometro chilometri, m² metro_quadrato metri_quadrati, m metro metri, cm centimetro centimetri,
		mm millimetro millimetri, kg chilo chili, g grammo grammi, mg milligrammo milligrammi, l litro litri, ml millilitro millilitri, GB giga =, MB mega =,
		h ora ore, min minuto minuti, °C grado gradi,
		km² chilometro_quadrato chilometri_quadrati, m³ metro_cubo metri_cubi, kW chilowatt =, kWh chilowattora =`),
	halfOf:    "mezza",
	fractions: pairs("1/2 mezzo, 1/3 un terzo, 2/3 due terzi, 1/4 un quarto, 3/4 tre quarti, 24/7 ventiquattro sette"),
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
