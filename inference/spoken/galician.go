package spoken

var galician = language{
	code: "gl", decimal: ',', group: '.', traits: linksDates | hourLetter | halfDays,
	rules: numbers(`0 cero {un|unha} {dous|dúas} tres catro cinco seis sete oito nove dez once doce trece catorce quince dezaseis dezasete dezaoito dezanove;
		20+10 vinte trinta corenta cincuenta sesenta setenta oitenta noventa [_e_>]; 100 cen; 101/100 cento[_>];
		200+100 {douscentos|duascentas} trescent{os|as} catrocent{os|as} cincocent{os|as} seiscent{os|as} setecent{os|as} oitocent{os|as} novecent{os|as} [_>];
		1000 mil[_>]; 2000/1000 <_mil[_>]; 1e6 un_millón[_>]; 2e6/1e6 <m_millóns[_>]; 1e12 un_billón[_>]; 2e12/1e12 <m_billóns[_>]`),
	nouns: gender{
		masculine:        set("día días problema problemas programa programas sistema sistemas idioma idiomas tema temas mapa mapas"),
		feminine:         set("noite noites vez veces clase clases chave chaves tarde tardes parte partes rúa rúas xente luz luces rede redes sede sedes flor flores muller mulleres man mans foto fotos base bases imaxe imaxes mesa mesas"),
		none:             set("de do da dos das e ou en a á ao o os as que é por para con sen non si se un unha son está están hai ata desde como cando pero porque mil millón millóns foi era será cada entre nin tamén hai no na"),
		masculineEndings: table("ista istas"),
		feminineEndings:  table("a as ión ións dade dades xe xes"),
	},
	ordinals: ordinals{most: 99,
		first:    table("primeiro segundo terceiro cuarto quinto sexto sétimo oitavo noveno décimo undécimo duodécimo décimo_terceiro décimo_cuarto décimo_quinto décimo_sexto décimo_sétimo décimo_oitavo décimo_noveno"),
		tens:     table("vixésimo trixésimo cuadraxésimo quincuaxésimo sesaxésimo septuaxésimo octoxésimo nonaxésimo"),
		suffixes: pairs("º m, ° m, o m, ª f, a f")},
	times:  times{use: feminine, quarter: " e cuarto", half: " e media", halfTo: 12, and: " e ", late: " e ", parts: [3]string{" da mañá", " da tarde", " da noite"}},
	of:     " de ",
	months: table("xaneiro febreiro marzo abril maio xuño xullo agosto setembro outubro novembro decembro"),
	point:  "coma", minus: "menos", to: "a", numberWord: "número", per: "por", codes: table("código pin cp postal"),
	hourWords: []string{"h.", "h"},
	signs: pairs(`@ arroba, . punto, - guión, _ guión baixo, / barra, : dous puntos,
		& e, = igual a, < menor que, > maior que, × por, ÷ entre, ~ uns, § sección, ° graos, + máis`), saidDomains: []string{"es"},
	moneyAnd: "con", scales: table("mil millón millóns billón billóns"),
	units: units(`% por_cento =, € euro euros céntimo céntimos, $ dólar dólares centavo centavos, £ libra libras penique peniques,
		CHF franco_suízo francos_suízos céntimo céntimos, BRL real reais centavo centavos, ¥ ien iens, MXN peso pesos centavo centavos,
		km/h quilómetro_por_hora quilómetros_por_hora, km quilómetro, m² metro_cadrado metros_cadrados, m metro, cm centímetro, mm milímetro, kg quilo,
		g gramo, mg miligramo, l litro, ml mililitro, GB xiga, MB mega, h hora, min minuto, °C grao,
		km² quilómetro_cadrado quilómetros_cadrados, m³ metro_cúbico metros_cúbicos, kW quilovatio, kWh quilovatio_hora quilovatios_hora`),
	halfOf:    "media",
	fractions: pairs("1/2 medio, 1/3 un terzo, 2/3 dous terzos, 1/4 un cuarto, 3/4 tres cuartos, 24/7 vinte e catro sete"),
}
