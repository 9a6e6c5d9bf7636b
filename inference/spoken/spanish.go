package spoken

// Spanish of Spain.
var spanish = language{
	code: "es", decimal: ',', group: '.', traits: linksDates | hourLetter | halfDays | nounFirst,
	rules: numbers(`0 cero {uno|un|una} dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete dieciocho diecinueve veinte
		{veintiuno|veintiún|veintiuna} veintidós veintitrés veinticuatro veinticinco veintiséis veintisiete veintiocho veintinueve;
		30+10 treinta cuarenta cincuenta sesenta setenta ochenta noventa [_y_>]; 100 cien; 101/100 ciento[_>];
		200+100 doscient{os|as} trescient{os|as} cuatrocient{os|as} quinient{os|as} seiscient{os|as} setecient{os|as} ochocient{os|as} novecient{os|as} [_>];
		1000 mil[_>]; 2000/1000 <_mil[_>]; 1e6 un_millón[_>]; 2e6/1e6 <m_millones[_>]; 1e12 un_billón[_>]; 2e12/1e12 <m_billones[_>]`),
	nouns: gender{
		masculine:        set("días día problemas problema programas programa sistemas sistema idiomas idioma temas tema mapas mapa planetas planeta dálmatas atletas turistas"),
		feminine:         set("noche noches vez veces clase clases llave llaves tarde tardes parte partes calle calles gente luz luces red redes sede sedes sal flor flores mujer mujeres mano manos foto fotos moto motos serie series base bases leche imagen imágenes orden señal señales"),
		none:             set("de del y o u e en a al que es por para con sin no sí si se la el los las lo le les un una son está están hay ha han más menos desde hasta como cuando pero porque mil millón millones fue era será cada entre ni también hace según"),
		masculineEndings: table("ista istas"),
		feminineEndings:  table("a as ión iones dad dades tad tades tud tudes"),
	},
	ordinals: ordinals{most: 99,
		first:    table("primero segundo tercero cuarto quinto sexto séptimo octavo noveno décimo undécimo duodécimo decimotercero decimocuarto decimoquinto decimosexto decimoséptimo decimoctavo decimonoveno"),
		tens:     table("vigésimo trigésimo cuadragésimo quincuagésimo sexagésimo septuagésimo octogésimo nonagésimo"),
		suffixes: pairs("º m, ° m, o m, er m, ero m, do m, ro m, to m, ª f, a f, era f, da f, ra f, ta f"), short: map[int64]string{1: "primer", 3: "tercer"}},
	times:  times{use: feminine, quarter: " y cuarto", half: " y media", halfTo: 12, and: " y ", late: " ", zero: true, parts: [3]string{" de la mañana", " de la tarde", " de la noche"}},
	of:     " de ",
	months: table("enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre"),
	point:  "coma", minus: "menos", plus: "más", to: "a", numberWord: "número", percent: "por ciento", per: "por", perOf: map[string]string{"mes": "al", "día": "al", "año": "al", "semana": "a la"}, codes: table("código pin cp postal"),
	hourWords: []string{"h.", "h", "hs"}, nine: "6789",
	signs: pairs("@ arroba, . punto, - guion, _ guion bajo, / barra, : dos puntos"), saidDomains: []string{"es"},
	moneyAnd: "con", scales: table("mil millón millones billón billones"),
	currencies: money(`EUR euro euros céntimo céntimos, USD dólar dólares centavo centavos, GBP libra libras penique peniques u, JPY yen yenes - -,
		CHF franco_suizo francos_suizos céntimo céntimos, BRL real reales centavo centavos, MXN peso pesos centavo centavos`),
	units: nouns(`km/h kilómetro_por_hora kilómetros_por_hora, km² kilómetro_cuadrado kilómetros_cuadrados, m² metro_cuadrado metros_cuadrados,
		m³ metro_cúbico metros_cúbicos, km kilómetro, m metro, cm centímetro, mm milímetro, kg kilo, g gramo, mg miligramo, l litro, ml mililitro,
		kW kilovatio, kWh kilovatio_hora kilovatios_hora, GB giga, MB mega, h hora + f, min minuto, s segundo, °C grado, °F grado_Fahrenheit grados_Fahrenheit,
		° grado`),
	halfOf: "media", halfMore: [2]string{" y medio", " y media"},
	fractions: pairs("1/2 medio, 1/3 un tercio, 2/3 dos tercios, 1/4 un cuarto, 3/4 tres cuartos, 24/7 veinticuatro siete"),
	symbols:   pairs("& y, = igual a, < menor que, > mayor que, × por, ÷ entre, ~ unos, § sección"),
}

// spanishShortened are nouns that shorten the ordinal before them: "tercer piso".
var spanishShortened = set("piso plato día puesto grado curso premio lugar trimestre semestre nivel año mes paso turno equipo hijo intento apellido nombre aviso")
