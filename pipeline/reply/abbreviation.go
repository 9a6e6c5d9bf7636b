package reply

import (
	"strings"
	"unicode/utf8"
)

// abbreviated says whether a full stop after word belongs to the word: after a known
// abbreviation, an initial, "z.B" or "p.m". open says that it may end the sentence all
// the same; what follows tells.
func abbreviated(word, language string) (yes, open bool) {
	word = strings.ToLower(strings.TrimLeftFunc(word, func(r rune) bool { return !speakable(r) }))
	elided := false
	if i := strings.LastIndexAny(word, "'’"); i >= 0 { // "l'Avv.", but not "c'è."
		elided = true
		_, size := utf8.DecodeRuneInString(word[i:])
		word = word[i+size:]
	}
	known := titles[language]
	if known == nil {
		known = titles["en"]
	}
	switch {
	case word == "":
		return false, false
	case enders[word]:
		return true, true
	case known[word], language == "de" && strings.HasSuffix(word, "str"):
		return true, false
	}
	initials := strings.Contains(word, ".") || utf8.RuneCountInString(word) == 1 && !elided
	for part := range strings.SplitSeq(word, ".") {
		n := utf8.RuneCountInString(part)
		initials = initials && n <= 2 && (n == 0 || !isNumber(part))
	}
	return initials, false
}

// numbered says whether a full stop after a number of one or two digits belongs to it:
// at the beginning of a piece it numbers a list, and elsewhere some languages write
// ordinals so.
func numbered(word, language string, begins bool) bool {
	word = strings.TrimLeft(word, "*_([\"'“«#>- ")
	return isNumber(word) && len(word) <= 2 && (begins || language == "de" || language == "eu")
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// enders are abbreviations that often stand at the end of a sentence.
var enders = wordSet(`etc usw p.m a.m etab inc ltd corp co s.a s.l eeuu uu u.s u.k d.c a.c v.chr n.chr u.ä u.a abar ecc cia bros chr`)

// beforeNumbers are words of English that a full stop makes abbreviations of where a
// number follows.
var beforeNumbers = wordSet(`no nos fig figs ch sec art vol`)

// titles are abbreviations that stand before something, without their full stop, by
// language. A sentence does not end with them.
var titles = map[string]map[string]bool{
	"en": wordSet(`mr mrs ms dr prof st sr vs e.g i.e approx vol dept est gov capt lt sgt mt ft ave blvd apt jan feb apr aug sept oct nov dec mon tue wed thu fri hrs tel pp tbsp tsp`),
	"es": wordSet(`sr sra srta sres sras dr dra dña ud uds vd vds prof profa avda av ctra pza plza núm num n.º tel teléf tfno pág págs ej aprox ee ss excmo ilmo izq dcha dpto ref mín máx cap art vol fdo lic ing arq gral sto sta`),
	"ca": wordSet(`sr sra srta dr dra prof av avda ctra pça núm num tel tlf pàg pàgs ex aprox dpt ref excm gral sta mín màx`),
	"gl": wordSet(`sr sra srta dr dra dna prof av avda estr pza núm num tel tfno páx páxs ex aprox dpto ref cap art excmo ilmo mín máx sto sta`),
	"eu": wordSet(`jn dr ira prof tel zk zenb orr adib aprox art kap k.a e.a`),
	"pt": wordSet(`sr sra srta sres dr dra drs prof profa eng arq av pç tel tlm telf núm num pág págs ex aprox exmo exma mín máx dept ref cap art vol lic sto sta rev`),
	"fr": wordSet(`mm ex mme mmes mlle mlles dr drs prof mgr st ste av bd boul tél tel pp env éd réf cf vol chap fig c.-à-d janv févr avr juil sept oct nov déc apr`),
	"it": wordSet(`sig es sigg sigra sig.ra dott dott.ssa dr prof prof.ssa avv ing arch geom p.zza v.le c.so tel nn pag pagg cfr vol art fig ecc.mo gent egr spett min max`),
	"de": wordSet(`hr hrn fr frl dr prof dipl ing st str pl nr nrn tel bzw ca inkl exkl zzgl evtl ggf abb tab max min vgl bsp abs aufl hrsg sog geb gest jh jhd mind jan feb apr jun jul aug sep sept okt nov dez std sek mio mrd tsd allg ehem entspr ff usf z.b d.h i.d.r z.t`),
}

func wordSet(list string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(list) {
		set[w] = true
	}
	return set
}
