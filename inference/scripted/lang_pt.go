package scripted

var portuguese = data{
	code: "pt",
	stop: `o a os as um uma uns umas de do da dos das em no na nos nas por pelo pela para com e ou que se ao aos
		eu voce voces ele ela nos eles meu minha seu sua seus suas me te lhe isto isso este esse esta essa aqui ai
		é sao sou esta estao estou ser estar ha tem tenho temos ter foi como qual quais que quem muito mais mas sim nao
		posso pode podem podia quero queria gostaria preciso fazer favor faz bem bom entao diga dizer saber sobre algo tambem ja ok ah eh permitem aceitam oferecem vendem possivel pergunta informacao trazer vir`,
	concepts: map[string]string{
		"hours":   "abre abrem abrir aberto abertos aberta abrimos abertura horario horarios hora horas fecha fecham fechar fechado fechamos encerra encerrado quando tarde cedo",
		"price":   "preco precos custa custam custo quanto valor tarifa tarifas caro barato euro euros reais gratis gratuito €",
		"where":   "onde endereco morada localizacao localizados fica ficam rua avenida praca chegar lugar perto",
		"book":    "reservar reserva reservas reservo reservado mesa mesas marcar marcacao consulta agendar agendamento",
		"food":    "comida menu ementa cardapio comer prato pratos jantar almoco vegetariano vegetariana vegetarianos vegano cozinha servimos servem",
		"deliver": "entrega entregas entregar domicilio envio envios levar takeaway recolher",
		"pay":     "pagar pagamento pagamentos cartao cartoes dinheiro credito multibanco",
		"park":    "estacionar estacionamento parque carro carros garagem",
		"contact": "telefone telemovel email correio contacto contato contactar site",
	},
	labels: map[string]string{
		"hours": "o horário", "price": "os preços", "where": "onde estamos", "book": "as reservas", "food": "a ementa",
		"deliver": "as entregas", "pay": "o pagamento", "park": "o estacionamento", "contact": "os nossos contactos",
	},
	talk: map[string]talk{
		greet:     {"olá|bom dia|boa tarde|boa noite|oi|está lá|alô", "Olá! Em que posso ajudar?"},
		bye:       {"adeus|tchau|até logo|até breve|obrigado adeus|obrigada adeus|é tudo|é só isso obrigado|mais nada obrigado|tenha um bom dia|até amanhã", "Obrigado pela chamada. Adeus!"},
		thanks:    {"obrigado|obrigada|muito obrigado|muito obrigada|perfeito|ótimo", "De nada. Mais alguma coisa?"},
		wellbeing: {"como está|como vai|tudo bem|como estás", "Muito bem, obrigado. Em que posso ajudar?"},
		who:       {"quem é você|como se chama|quem fala|com quem falo|é um robô|é uma máquina|é uma pessoa|é uma gravação|qual é o seu nome", "Sou um assistente automático que segue regras."},
		human:     {"quero falar com uma pessoa|posso falar com alguém|falar com um operador|passe a um colega|quero falar com o gerente", "Lamento, não posso transferir a chamada. Posso ajudar em alguma coisa?"},
		help:      {"pode ajudar me|ajuda|o que pode fazer|preciso de ajuda|o que posso perguntar|tenho uma pergunta|queria uma informação", ""},
		again:     {"pode repetir|repita por favor|como disse|desculpe|o que disse|não ouvi|não percebi|não entendi|outra vez por favor", ""},
		presence:  {"está aí|consegue ouvir me|está a ouvir|ainda está aí|está me ouvindo", "Sim, estou a ouvir."},
		hold:      {"espere|um momento|só um momento|um segundo|aguarde|deixe me pensar", "Esteja à vontade."},
		yes:       {"sim|sim por favor|claro|com certeza|certo|exatamente|está bem|isso mesmo", "Muito bem. O que gostaria de saber?"},
		no:        {"não|não obrigado|não obrigada|nada|nenhum", "Está bem. Mais alguma coisa?"},
		booking:   {"quero reservar uma mesa|queria fazer uma reserva|gostaria de reservar uma mesa|quero marcar uma consulta|queria marcar|uma mesa para dois|reservar mesa para quatro na sexta|posso reservar uma mesa|fazer uma reserva", "Anotei {number} pessoas, {day} às {time}, em nome de {name}. Obrigado!"},
	},
	asked: "a que horas abrem|a que horas abrem na segunda|quando abrem|a que horas fecham|a que horas fecham no sábado|estão abertos ao domingo|estão abertos hoje|qual é o horário|até que horas estão abertos|" +
		"quanto custa|qual é o preço|quais são os preços|onde ficam|onde estão|qual é a morada|qual é o endereço|como se chega|têm estacionamento|fazem entregas|posso pagar com cartão|" +
		"o que há na ementa|têm pratos vegetarianos|é preciso reservar|qual é o telefone|para duas pessoas|para quatro pessoas|de manhã|à tarde|às seis e meia",
	texts: texts{
		fallback: []string{"Desculpe, não percebi. Pode dizer de outra maneira?", "Lamento, continuo sem perceber. {topics}", "Receio que não possa ajudar com isso."},
		topics:   "Posso informar sobre {topics}.",
		and:      "e",
		moment:   "Um momento, por favor, ainda estou a ver.",
		failed:   "Lamento, não funcionou.",
		done:     "Feito.",
		cannot:   "Lamento, agora não posso fazer isso.",
		nothing:  "Ainda não disse nada. Em que posso ajudar?",
		meet:     "Muito prazer, {name}. Em que posso ajudar?",
		ask: map[string]string{
			"number": "Para quantas pessoas?", "day": "Para que dia?", "time": "A que horas?", "name": "Em que nome, por favor?",
			"digits": "Pode dizer-me {slot}, algarismo a algarismo?", "text": "Pode dizer-me {slot}?",
		},
	},
	numbers: "zero um dois três quatro cinco seis sete oito nove dez onze doze treze catorze quinze dezasseis dezassete dezoito dezanove vinte",
	tens:    "vinte trinta quarenta cinquenta sessenta setenta oitenta noventa",
	more:    map[string]int{"uma": 1, "duas": 2, "quatorze": 14, "dezesseis": 16, "dezessete": 17, "dezenove": 19},
	digits:  "e", days: "segunda terça quarta quinta sexta sábado domingo hoje amanhã",
	at: "às|as|à|pelas", clock: "horas|hora|h|em ponto",
	before: "", after: "e meia=30|e um quarto=15",
	afternoon: "da tarde|da noite|esta noite", noon: "meio dia|meio-dia",
	people: "pessoas", party: "para", nameLeads: "chamo me|o meu nome é|meu nome é|em nome de",
	instructions: "você é|voce e|és|tu és|o seu nome|seu nome|deve|podes|responde|responda|fala|fale|cumprimenta|seja|sempre|nunca|não diga|não invente|pergunte|use|ofereça|ajude|atende|trabalha|se o cliente|se o utilizador|se o usuário|quando o cliente|o cliente|o utilizador|diga que|explique",
	relay:        "diga que|explique que|informe que|lembre que",
	self:         "você é=sou|tu és=sou|és=sou|chamas-te=chamo-me|trabalha=trabalho|trabalhas=trabalho|atende=atendo|seu=meu|sua=minha|você=eu",
}
