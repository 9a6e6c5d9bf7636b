package spoken

// Portuguese of Portugal.
var portuguese = language{
	code: "pt", decimal: ',', group: '.', traits: linksDates | hourLetter | halfDays,
	rules: numbers(`0 zero {um|uma} {dois|duas} três quatro cinco seis sete oito nove dez onze doze treze catorze quinze dezasseis dezassete dezoito dezanove;
		20+10 vinte trinta quarenta cinquenta sessenta setenta oitenta noventa [_e_>]; 100 cem; 101/100 cento[_e_>];
		200+100 duzent{os|as} trezent{os|as} quatrocent{os|as} quinhent{os|as} seiscent{os|as} setecent{os|as} oitocent{os|as} novecent{os|as} [_e_>];
		1000 mil[&_>]; 2000/1000 <_mil[&_>]; 1e6 um_milhão[&_>]; 2e6/1e6 <m_milhões[&_>]; 1e12 um_bilião[&_>]; 2e12/1e12 <m_biliões[&_>]`),
	and: "e",
	nouns: gender{
		masculine:        set("dia dias problema problemas programa programas sistema sistemas idioma idiomas tema temas mapa mapas grama gramas quilograma quilogramas"),
		feminine:         set("noite noites vez vezes classe classes chave chaves tarde tardes parte partes luz luzes rede redes sede sedes flor flores mulher mulheres mão mãos foto fotos base bases imagem imagens viagem viagens paragem paragens mensagem mensagens ordem ordens"),
		none:             set("de do da dos das e ou em a à ao o os as que é por para com sem não sim se um uma são está estão há até desde como quando mas porque mil milhão milhões foi era será cada entre nem também no na nos nas"),
		masculineEndings: table("ista istas"),
		feminineEndings:  table("a as ção ções são sões dade dades gem gens"),
	},
	ordinals: ordinals{most: 99,
		first:    table("primeiro segundo terceiro quarto quinto sexto sétimo oitavo nono décimo décimo_primeiro décimo_segundo décimo_terceiro décimo_quarto décimo_quinto décimo_sexto décimo_sétimo décimo_oitavo décimo_nono"),
		tens:     table("vigésimo trigésimo quadragésimo quinquagésimo sexagésimo septuagésimo octogésimo nonagésimo"),
		suffixes: pairs("º m, ° m, o m, ª f, a f")},
	times:  times{use: feminine, full: " horas", half: " e meia", halfTo: 11, and: " e ", late: " e ", parts: [3]string{" da manhã", " da tarde", " da noite"}},
	of:     " de ",
	months: table("janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro"),
	point:  "vírgula", minus: "menos", to: "a", numberWord: "número", per: "por", codes: table("código pin postal cep"),
	hourWords: []string{"h.", "h"},
	signs: pairs(`@ arroba, . ponto, - hífen, _ traço baixo, / barra, : dois pontos,
		& e, = igual a, < menor que, > maior que, × vezes, ÷ a dividir por, ~ cerca de, § secção, ° graus, + mais`),
	moneyAnd: "e", scales: table("mil milhão milhões bilião biliões"),
	units: units(`% por_cento =, € euro euros cêntimo cêntimos, $ dólar dólares cêntimo cêntimos, £ libra libras péni pence,
		CHF franco_suíço francos_suíços cêntimo cêntimos, BRL real reais centavo centavos, ¥ iene ienes, MXN peso pesos centavo centavos,
		km/h quilómetro_por_hora quilómetros_por_hora, km quilómetro, m² metro_quadrado metros_quadrados, m metro, cm centímetro, mm milímetro, kg quilo,
		g grama, mg miligrama, l litro, ml mililitro, GB gigabyte, MB megabyte, h hora, min minuto, °C grau,
		km² quilómetro_quadrado quilómetros_quadrados, m³ metro_cúbico metros_cúbicos, kW quilowatt, kWh quilowatt-hora quilowatts-hora`),
	halfOf:    "meia",
	fractions: pairs("1/2 meio, 1/3 um terço, 2/3 dois terços, 1/4 um quarto, 3/4 três quartos, 24/7 vinte e quatro sete"),
}
