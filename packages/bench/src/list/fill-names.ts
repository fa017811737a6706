/** Common names, the most common first. The fill uses the first ones far more often. */
export const firstNames =
  `Maria James Anna John Mohamed Laura David Elena Michael Sofia Daniel Sarah Thomas Emma Robert Olga Peter Julia
Carlos Ivan Fatima Paul Nina Mark Lucia Jan Eva Omar Linda Martin Irina Ali Karen Marco Alice Hans Rosa George
Diana Luis Clara Adam Helen Jose Vera Simon Paula Victor Marta Henry Ines Oscar Nora Felix Amina Leo Carmen Hugo
Greta Samuel Tanya Max Yasmin Eric Monica Frank Rita Ahmed Sonia Bruno Ruth Oliver Lena Tom Agnes Jack Ida Noah
Mila Lukas Zoe Andre Chiara Pavel Leila Anton Freya Nikolai Hana Stefan Amelie Rafael Petra Tariq Astrid Viktor
Noor Emil Katya Diego Signe Milan Aisha Jonas Tuva Boris Selma Mateo Lidia Kamal Edith Otto Ylva Igor Naima Axel
Celia Rami Flora Gustav Dalia Bjorn Esther Ravi Olivia Klaus Priya Joao Mei Arjun Yuki Tiago Ling Dev Sana Kofi
Ama Kwame Zainab Chidi Ngozi Sven Maeve Sean Niamh Ronan Una Cormac Orla Declan Bridget`.split(/\s+/);

export const lastNames =
  `Smith Garcia Mueller Martin Ivanov Khan Rossi Silva Jones Nowak Novak Lopez Brown Kim Schmidt Santos Ahmed
Petrov Dubois Hansen Wilson Perez Bianchi Fischer Costa Ali Taylor Kovacs Andersen Moreau Weber Ferrari Johansson
Clark Sanchez Meyer Popov Laurent Nielsen Russo Lewis Torres Wagner Horvat Larsen Romano Walker Becker Ramirez
Hall Schulz Colombo Olsen Allen Flores Hoffmann Ricci Young Rivera Koch Marino King Gomez Bauer Greco Wright Diaz
Richter Bruno Scott Reyes Klein Gallo Green Morales Wolf Conti Baker Cruz Schroeder Costas Adams Ortiz Neumann
Mancini Nelson Gutierrez Schwarz Giordano Carter Chavez Zimmermann Rizzo Mitchell Ramos Braun Lombardi Roberts
Ruiz Krueger Moretti Turner Alvarez Hofmann Barbieri Phillips Mendoza Hartmann Fontana Campbell Vasquez Lange
Santoro Parker Castillo Werner Mariani Evans Jimenez Krause Rinaldi Edwards Moreno Lehmann Caruso Collins Romero
Koehler Ferrara Stewart Herrera Maier Galli Morris Medina Huber Martini Rogers Aguilar Kaiser Leone Reed Vargas
Fuchs Longo Cook Guzman Peters Gentile Morgan Mendez Lang Martinelli Bell Munoz Scholz Vitale Murphy Salazar Moeller
Lombardo Bailey Garza Weiss Serra Cooper Soto Jung Coppola Richardson Vazquez Hahn Desantis Cox Alvarado Schubert
Damico Howard Delgado Vogel Parisi Ward Pena Friedrich Villa Peterson Rios Keller Conte Gray Sandoval Guenther
Ferraro Watson Guerrero Frank Ferri Brooks Estrada Berger Fabbri Kelly Ortega Winkler Bianco Sanders Nunez Roth
Marini Price Figueroa Beck Grasso Bennett Contreras Lorenz Valentini Wood Lovelace Hopper`.split(/\s+/);
