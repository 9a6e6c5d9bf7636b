package spoken

var catalan = language{
	code: "ca", decimal: ',', group: '.', traits: linksDates | hourLetter | dottedTime | halfDays,
	rules: numbers(`0 zero {u|un|una} {dos|dues} tres quatre cinc sis set vuit nou deu onze dotze tretze catorze quinze setze disset divuit dinou;
		20 vint[-i->]; 30+10 trenta quaranta cinquanta seixanta setanta vuitanta noranta [->]; 100 cent[_>]; 200/100 <-cent{s|es}[_>];
		1000 mil[_>]; 2000/1000 <_mil[_>]; 1e6 un_milió[_>]; 2e6/1e6 <m_milions[_>]; 1e12 un_bilió[_>]; 2e12/1e12 <m_bilions[_>]`),
	nouns: gender{
		masculine:       set("dia dies home homes pare pares metre metres quilòmetre quilòmetres centímetre centímetres litre litres llibre llibres nombre nombres problema problemes programa programes sistema sistemes idioma idiomes tema temes mapa mapes milió milions bilió bilions avió avions camió camions tramvies sopar mesos mes"),
		feminine:        set("nit nits clau claus part parts llum llums xarxa xarxes seu seus flor flors mà mans veu veus tarda clau gent sal mel serp llet foto fotos moto motos vegada vegades hora hores"),
		none:            set("de del d dels des i o en a al als que és per amb sense no sí si es se la el els les un una són està estan hi ha fins com quan però perquè mil era serà cada entre ni també és"),
		feminineEndings: table("a es ió ions tat tats"),
	},
	ordinals: ordinals{most: 99, first: table("primer segon tercer quart"),
		endings:  changes("nou novè, deu desè, u unè, cinc cinquè, a è, e è, - è"),
		suffixes: pairs("r m, n m, t m, è m, é m, º m, ° m, er m, a f, ª f")},
	times: times{use: feminine, quarter: " i quart", half: " i mitja", halfTo: 12, and: " i ", late: " i ", parts: [3]string{" del matí", " de la tarda", " de la nit"}},
	of:    " de ", ofVowel: " d'",
	months: table("gener febrer març abril maig juny juliol agost setembre octubre novembre desembre"),
	point:  "coma", minus: "menys", to: "a", numberWord: "número", per: "per", codes: table("codi pin cp postal"),
	timeBefore: []string{"les", "la"}, timeAfter: []string{"h", "hores"},
	hourWords: []string{"h.", "h"},
	signs: pairs(`@ arrova, . punt, - guió, _ guió baix, / barra, : dos punts,
		& i, = igual a, < més petit que, > més gran que, × per, ÷ dividit per, ~ uns, § secció, ° graus, + més`), saidDomains: []string{"es"},
	moneyAnd: "amb", scales: table("mil milió milions bilió bilions"),
	units: units(`% per_cent =, € euro euros cèntim cèntims, $ dòlar dòlars centau centaus, £ lliura lliures penic penics, CHF franc_suís francs_suïssos cèntim cèntims,
		BRL real reals centau centaus, ¥ ien iens, MXN peso pesos centau centaus, km/h quilòmetre_per_hora quilòmetres_per_hora, km quilòmetre,
		m² metre_quadrat metres_quadrats, m metre, cm centímetre, mm mil·límetre, kg quilo, g gram, mg mil·ligram, l litre, ml mil·lilitre, GB giga gigues,
		MB mega megues, h hora hores, min minut, °C grau,
		km² quilòmetre_quadrat quilòmetres_quadrats, m³ metre_cúbic metres_cúbics, kW quilowatt, kWh quilowatt_hora quilowatts_hora`),
	halfOf:    "mitja",
	fractions: pairs("1/2 mig, 1/3 un terç, 2/3 dos terços, 1/4 un quart, 3/4 tres quarts, 24/7 vint-i-quatre set"),
}
