package spoken

// Spanish of Spain.
var spanish = language{
	code: "es", decimal: ',', group: '.', traits: linksDates | hourLetter | halfDays,
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
	point:  "coma", minus: "menos", to: "a", numberWord: "número", per: "por", codes: table("código pin cp postal"),
	hourWords: []string{"h.", "h", "hs"},
	signs: pairs(`@ arroba, . punto, - guion, _ guion bajo, / barra, : dos puntos,
		& y, = igual a, < menor que, > mayor que, × por, ÷ entre, ~ unos, § sección, ° grados, + más`), saidDomains: []string{"es"},
	moneyAnd: "con", scales: table("mil millón millones billón billones"),
	units: units(`% por_ciento =, € euro euros céntimo céntimos, $ dólar dólares centavo centavos, £ libra libras penique peniques,
		CHF franco_suizo francos_suizos céntimo céntimos, BRL real reales centavo centavos, ¥ yen yenes, MXN peso pesos centavo centavos,
		km/h kilómetro_por_hora kilómetros_por_hora, km kilómetro, m² metro_cuadrado metros_cuadrados, m metro, cm centímetro, mm milímetro, kg kilo, g gramo,
		mg miligramo, l litro, ml mililitro, GB giga, MB mega, h hora, min minuto, °C grado,
		km² kilómetro_cuadrado kilómetros_cuadrados, m³ metro_cúbico metros_cúbicos, kW kilovatio, kWh kilovatio_hora kilovatios_hora`),
	halfOf:    "media",
	fractions: pairs("1/2 medio, 1/3 un tercio, 2/3 dos tercios, 1/4 un cuarto, 3/4 tres cuartos, 24/7 veinticuatro siete"),
}
