"""observation/facts"""
