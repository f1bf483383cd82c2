import unittest

from seedcat.store import Catalogue


class StoreTest(unittest.TestCase):
    def setUp(self):
        self.catalogue = Catalogue(":memory:")
        self.addCleanup(self.catalogue.db.close)

    def test_a_packet_is_found_again(self):
        packet = self.catalogue.add("Carrot", "Autumn King", "2024-02", 5.0)
        row = self.catalogue.get(packet)
        self.assertEqual((row["crop"], row["grams"]), ("Carrot", 5.0))

    def test_packets_of_one_crop(self):
        self.catalogue.add("Carrot", "Nantes", "2024-02")
        self.catalogue.add("Leek", "Musselburgh", "2023-01")
        self.assertEqual([r["variety"] for r in self.catalogue.packets("Leek")], ["Musselburgh"])

    def test_remove(self):
        packet = self.catalogue.add("Leek", "Musselburgh", "2023-01")
        self.assertTrue(self.catalogue.remove(packet))
        self.assertFalse(self.catalogue.remove(packet))


if __name__ == "__main__":
    unittest.main()
