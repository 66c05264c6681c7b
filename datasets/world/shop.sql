CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, city TEXT, country TEXT, since TEXT);
CREATE TABLE products (sku TEXT PRIMARY KEY, name TEXT, kind TEXT, price_eur REAL);
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers(id), sku TEXT REFERENCES products(sku),
  quantity INTEGER, ordered_on TEXT, status TEXT);
INSERT INTO customers VALUES
 (1,'Lena Vogt','Leipzig','DE','2023-05-02'),(2,'Carlos Ibarra','Valencia','ES','2024-11-19'),
 (3,'Harbour Cafe','Bristol','GB','2025-02-08'),(4,'Nadia Rahman','Hamburg','DE','2022-09-14'),
 (5,'Studio Kranich','Berlin','DE','2024-03-30'),(6,'Paul Lindqvist','Malmö','SE','2025-07-21'),
 (7,'Teeladen Huber','Graz','AT','2021-12-01'),(8,'Ines Moreau','Lyon','FR','2025-12-12');
INSERT INTO products VALUES
 ('GR-01','Sencha Spring','green',7.90),('GR-02','Gunpowder','green',5.40),('GR-03','Jasmine Pearls','green',11.50),
 ('BL-01','Assam Second Flush','black',6.20),('BL-02','Darjeeling First Flush','black',9.80),('BL-03','Earl Grey','black',5.10),
 ('OO-01','Tie Guan Yin','oolong',10.40),('HE-01','Peppermint','herbal',4.30),('HE-02','Rooibos Orange','herbal',4.90),
 ('HE-03','Camomile','herbal',4.50);
INSERT INTO orders VALUES
 (1001,4,'GR-01',3,'2026-02-03','delivered'),(1002,7,'BL-03',20,'2026-02-05','delivered'),
 (1003,5,'OO-01',2,'2026-02-09','delivered'),(1004,6,'BL-01',4,'2026-02-12','delivered'),
 (1005,3,'BL-03',15,'2026-02-16','delivered'),(1006,2,'GR-03',2,'2026-02-18','delivered'),
 (1007,8,'HE-02',1,'2026-02-20','returned'),(1008,7,'HE-01',12,'2026-02-23','delivered'),
 (1009,1,'BL-02',2,'2026-02-24','packed'),(1010,4,'GR-02',5,'2026-02-26','delivered'),
 (1011,5,'GR-01',6,'2026-03-01','shipped'),(1012,6,'GR-03',1,'2026-03-04','payment_failed'),
 (1013,8,'BL-02',3,'2026-03-04','paid'),(1014,3,'HE-01',10,'2026-03-05','paid');
